alter table threads drop column item_from;
