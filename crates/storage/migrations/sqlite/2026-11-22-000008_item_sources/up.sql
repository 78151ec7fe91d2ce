-- The message that gave the item of a thread its present state. It is deleted with that message; where it is not
-- known, with any message of the inbox in the thread.
alter table threads add column item_from bigint;
