-- Notices repeat no text that can be edited away or deleted. A message-edit (8) keeps the number of its
-- message, a tag-change (9) drops the removed tags that are words of somebody's.
update messages set content = json_build_object('message', content::json -> 'message')::text where event = 8;
update messages
    set content = json_build_object(
        'message', content::json -> 'message',
        'add', content::json -> 'add',
        'remove', (
            select coalesce(json_agg(tag), '[]'::json)
            from json_array_elements_text(content::json -> 'remove') as tag where tag like ':%'
        )
    )::text
    where event = 9;
-- Of an outside item only the present state is kept.
delete from thread_items where not exists (
    select 1 from threads
    where threads.room_id = thread_items.room_id and threads.item_id = thread_items.message_id
);
