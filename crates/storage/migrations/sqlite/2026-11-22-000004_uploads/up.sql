-- Nicks that differ only in characters that are not seen have one key from now on: these characters are
-- left out of it. Where the key is another's already, the nick keeps its old one, under which nobody finds
-- it, until its owner chooses another nick.
update or ignore organization_members
set nick_key = (
    with recursive rest (at, kept) as (
        select 1, ''
        union all
        select at + 1, kept || case
            when unicode(substr(nick_key, at, 1)) in (0xad, 0x34f, 0x61c, 0x3164, 0xfeff, 0xffa0)
                or unicode(substr(nick_key, at, 1)) between 0x115f and 0x1160
                or unicode(substr(nick_key, at, 1)) between 0x17b4 and 0x17b5
                or unicode(substr(nick_key, at, 1)) between 0x180b and 0x180f
                or unicode(substr(nick_key, at, 1)) between 0x200b and 0x200f
                or unicode(substr(nick_key, at, 1)) between 0x202a and 0x202e
                or unicode(substr(nick_key, at, 1)) between 0x2060 and 0x206f
                or unicode(substr(nick_key, at, 1)) between 0xfe00 and 0xfe0f
                or unicode(substr(nick_key, at, 1)) between 0xfff0 and 0xfff8
                or unicode(substr(nick_key, at, 1)) between 0x1bca0 and 0x1bca3
                or unicode(substr(nick_key, at, 1)) between 0x1d173 and 0x1d17a
                or unicode(substr(nick_key, at, 1)) between 0xe0000 and 0xe0fff
            then '' else substr(nick_key, at, 1) end
        from rest where at <= length(nick_key)
    )
    -- A nick of nothing else keeps its key.
    select case kept when '' then nick_key else kept end from rest order by at desc limit 1
)
where nick_key glob '*[^ -~]*';
