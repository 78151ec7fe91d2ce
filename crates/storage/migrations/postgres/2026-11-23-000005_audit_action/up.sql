alter table audit rename column deed to action;
