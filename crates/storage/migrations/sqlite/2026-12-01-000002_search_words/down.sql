drop table message_search_words;
