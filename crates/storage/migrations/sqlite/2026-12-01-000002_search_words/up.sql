-- The words of the index, by which a search finds those that begin with one that it names.
create virtual table message_search_words using fts5vocab (message_search, instance);
