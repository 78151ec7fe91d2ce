-- The index of words finds those that begin so by itself here.
select 1;
