-- What was taken out cannot be put back, and older servers read what is left.
select 1;
