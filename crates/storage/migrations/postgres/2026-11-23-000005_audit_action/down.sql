alter table audit rename column action to deed;
