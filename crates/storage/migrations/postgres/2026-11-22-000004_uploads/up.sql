-- Nicks that differ only in characters that are not seen have one key from now on: these characters are
-- left out of it. Where the key is another's already, the nick keeps its old one, under which nobody finds
-- it, until its owner chooses another nick.
update organization_members as changed
set nick_key = ranked.kept
from (
    select organization_id, user_id, kept,
        row_number() over (partition by organization_id, kept order by nick_key <> kept, user_id) as place
    from (
        select organization_id, user_id, nick_key, regexp_replace(
            nick_key,
            '[\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]',
            '', 'g'
        ) as kept
        from organization_members
    ) as keys
) as ranked
where ranked.organization_id = changed.organization_id and ranked.user_id = changed.user_id
    and ranked.place = 1 and ranked.kept <> changed.nick_key and ranked.kept <> '';
