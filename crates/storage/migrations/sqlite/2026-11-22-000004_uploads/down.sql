-- The characters that were taken out of keys cannot be put back, and nothing needs them.
select 1;
