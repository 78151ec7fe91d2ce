-- The index of words is never behind the messages here.
select 1;
