-- What can be done with a team's store, whatever its version was before: run after the tables by each
-- `gavel team init`. Functions run with the owner's rights and know who is connected (session_user).
-- Each may be called again with the same words: a client whose connection was lost does.
--
-- Locks are taken in this order: source, item, head.

set local search_path = gavel, pg_temp;

do $$ begin
	if not exists (select from pg_roles where rolname = 'gavel_agent') then create role gavel_agent nologin; end if;
	if not exists (select from pg_roles where rolname = 'gavel_reviewer') then create role gavel_reviewer nologin; end if;
end $$;

-- ---- events ----

-- The text that an event's hash covers, behind the hash before it. src/team/chain.c makes the same.
create or replace function chain_text(n bigint, at timestamptz, who name, what text, item bigint, note text)
returns text language sql stable set search_path = gavel, pg_temp set timezone = 'UTC' as $$
	select n || '|' || to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.US') || '|' || what || '|' || item || '|' || who || '|' || note
$$;

create or replace function tell(w text, i bigint, words text)
returns void language plpgsql set search_path = gavel, pg_temp as $$
declare
	h head;
	t timestamptz;
begin
	select * into h from head for update;        -- one after the other: no gaps, and n is the order of commits
	t := clock_timestamp();
	h.n := h.n + 1;
	h.hash := sha256(h.hash || convert_to(chain_text(h.n, t, session_user, w, coalesce(i, 0), words), 'UTF8'));
	insert into event values (h.n, t, session_user, w, coalesce(i, 0), words, h.hash);
	update head set n = h.n, hash = h.hash;
	perform pg_notify('gavel', h.n::text);
end $$;

create or replace function never() returns trigger language plpgsql as $$
begin
	raise exception 'what was decided is never changed';
end $$;
do $$
declare t text;
begin
	foreach t in array array['event', 'decision', 'vote', 'outcome', 'dispatch'] loop
		execute format('create or replace trigger never before update or delete on %I for each row execute function never()', t);
		execute format('drop trigger if exists never_truncate on %I', t);
		execute format('create trigger never_truncate before truncate on %I for each statement execute function never()', t);
	end loop;
end $$;

-- ---- the machines with agents ----

-- The partitions of today and the next days.
create or replace function make_days()
returns void language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	today date := (clock_timestamp() at time zone 'UTC')::date;
	d date;
	name text;
begin
	for k in 0..2 loop
		d := today + k;
		name := 'line_' || to_char(d, 'YYYYMMDD');
		if to_regclass('gavel.' || name) is not null then continue; end if;
		perform pg_advisory_xact_lock(hashtext('gavel.line'));
		if to_regclass('gavel.' || name) is not null then continue; end if;
		-- attached afterwards: that lets others go on writing
		execute format('create table %I (like line including all)', name);
		execute format('alter table line attach partition %I for values from (%L) to (%L)',
			name, d || ' 00:00+00', (d + 1) || ' 00:00+00');
	end loop;
end $$;

create or replace function own_source(src int, out s source)
language plpgsql set search_path = gavel, pg_temp as $$
begin
	select * into s from source where id = src for update;
	if not found or s.owner <> session_user then
		raise exception 'source % is not one of %', src, session_user using errcode = 'insufficient_privilege';
	end if;
end $$;

-- A log by its name and by how it begins. Where another one had the name, or one of that beginning has more
-- than `size` bytes, it is NAME#2, and so on; numbers up to `skip` are passed over. Without `hd`, the source
-- that items belong to, whatever its log is. mark: sha256 of the last line, which is at mark_seq, by which the
-- edge makes sure that it goes on with the same log.
create or replace function ship_open(nm text, hd text, size bigint, skip int, out id int, out number int, out next bigint,
	out mark_seq bigint, out mark bytea)
language plpgsql security definer set search_path = gavel, pg_temp as $$
#variable_conflict use_column
declare
	s source;
	full_name text;
begin
	perform make_days();
	number := skip;
	loop
		number := number + 1;
		full_name := nm || case when number > 1 then '#' || number else '' end;
		insert into source (name, owner, head) values (full_name, session_user, hd) on conflict (name) do nothing;
		select * into s from source where name = full_name for update;
		if s.owner <> session_user then
			raise exception 'the source % is shipped by %', full_name, s.owner
				using errcode = 'insufficient_privilege', hint = 'choose another name with --as-source';
		end if;
		exit when hd is null or s.head is null or (s.head = hd and s.next <= size);
	end loop;
	if s.head is null and hd is not null then
		update source set head = hd where source.id = s.id;
	end if;
	id := s.id;
	next := s.next;
	select l.seq, sha256(l.bytes) into mark_seq, mark from line l where l.source = s.id and l.seq < s.next
		order by l.seq desc limit 1;
end $$;

-- Appends lines if `first` is where the source ends. Returns where it ends then, and how long to wait if
-- nothing was taken because that was too much at once.
create or replace function ship(src int, first bigint, lines bytea[], out next bigint, out wait_ms int)
language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	s source := own_source(src);
	t timestamptz := clock_timestamp();
	total bigint;
begin
	next := s.next;
	wait_ms := 0;
	if s.next <> first or cardinality(lines) = 0 then return; end if;
	select sum(octet_length(b)) into total from unnest(lines) b;
	s.room := least(s.rate * 60, s.room + s.rate * extract(epoch from t - s.filled));
	-- what is more than all the room there can be goes when the room is full
	if s.room < least(total, s.rate * 60) then
		wait_ms := ceil(1000 * (least(total, s.rate * 60) - s.room) / greatest(s.rate, 1));
		return;
	end if;
	if to_regclass('gavel.line_' || to_char(t at time zone 'UTC' + interval '1 day', 'YYYYMMDD')) is null then
		perform make_days();
	end if;
	insert into line (source, seq, at, bytes)
		select src, first + coalesce(sum(octet_length(b)) over (order by o rows between unbounded preceding and 1 preceding), 0), t, b
		from unnest(lines) with ordinality as u (b, o);
	next := first + total;
	update source set next = ship.next, room = s.room - total, filled = t where id = src;
end $$;

-- An item of that rev. An older one with the same key that nobody has decided makes way for it. One whose
-- decision could not be said is asked again. due: when it rises, which is the deadline or the end of the time
-- that the source's level of the ladder has.
create or replace function open_item(src int, k text, r text, kd text, ttl text, b bytea, bdl text, wants int,
	d timestamptz, out item bigint, out state text)
language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	s source := own_source(src);
	x item;
	old bigint;
	rises timestamptz := least(d, clock_timestamp() + (select l.after from ladder l where l.level = s.level));
begin
	for old in update item i set state = 'withdrawn', holder = null, until = null
		where i.source = src and i.key = k and i.rev <> r and i.state = 'open' returning i.id
	loop
		perform tell('withdrawn', old, 'it has other words now');
	end loop;
	select * into x from item i where i.source = src and i.key = k and i.rev = r order by i.try desc limit 1 for update;
	item := x.id;
	state := x.state;
	if x.state = 'open' or (x.state = 'decided' and last_outcome(x.id) is distinct from 'refused') then return; end if;
	if (select count(*) from (select from item i where i.source = src and i.state = 'open' limit s.open_max) o) >= s.open_max then
		raise exception 'the source % has % open items, which is all it may have', s.name, s.open_max
			using errcode = 'program_limit_exceeded';
	end if;
	if x.state = 'withdrawn' then
		update item i set state = 'open', due = rises where i.id = x.id;
	else
		insert into item (source, key, rev, try, kind, title, body, bundle, need, level, due)
			values (src, k, r, coalesce(x.try + 1, 0), kd, left(ttl, 500), b, bdl, greatest(s.need, wants), s.level, rises)
			returning * into x;
	end if;
	perform tell('opened', x.id, k);
	item := x.id;
	state := 'open';
end $$;

create or replace function withdraw(i bigint, why text)
returns bool language plpgsql security definer set search_path = gavel, pg_temp as $$
begin
	update item x set state = 'withdrawn', holder = null, until = null
		where x.id = i and x.state = 'open' and x.source in (select s.id from source s where s.owner = session_user);
	if found then perform tell('withdrawn', i, left(why, 200)); end if;
	return found;
end $$;

create or replace function last_outcome(i bigint)
returns text language sql stable set search_path = gavel, pg_temp as $$
	select o.what from outcome o where o.item = i order by o.n desc limit 1
$$;

-- Decisions on items of these sources that are to leave and of which the last word is not said. Those of a
-- bundle wait for each other, unless a reviewer has dispatched them. `last`: the newest outcome. Every machine
-- asks once a second, so it costs what is in it, and not what was ever decided.
create or replace function outbox(sources int[])
returns table (item bigint, source int, key text, rev text, kind text, bundle text, verb text, who text, draft text,
	at timestamptz, last text)
language sql stable security definer set search_path = gavel, pg_temp as $$
	select i.id, i.source, i.key, i.rev, i.kind, i.bundle, d.verb, array_to_string(d.deciders, ', '), d.draft, d.at,
		coalesce(last_outcome(i.id), '')
	from item i join decision d on d.item = i.id join source s on s.id = i.source
	where s.owner = session_user and i.source = any (sources) and i.outgoing
		and (i.bundle = '' or exists (select from dispatch p where p.item = i.id)
			or exists (select from outcome o where o.item = i.id)
			or not exists (select from item x where x.source = i.source and x.bundle = i.bundle and x.bundle <> '' and x.state = 'open'))
	order by d.at, i.id
$$;

-- What an edge needs to know after it was away: its open items, and those whose decision was sent but not
-- acknowledged.
create or replace function own_items(sources int[])
returns table (item bigint, last text)
language sql stable security definer set search_path = gavel, pg_temp as $$
	select i.id, coalesce(last_outcome(i.id), '') from item i join source s on s.id = i.source
	where s.owner = session_user and s.id = any (sources)
		and (i.state = 'open' or (i.state = 'decided' and last_outcome(i.id) = 'sent'))
$$;

-- What became of a decision; bytes: the message as it was sent.
create or replace function report(i bigint, w text, why text, message bytea)
returns void language plpgsql security definer set search_path = gavel, pg_temp as $$
begin
	if w not in ('held', 'sent', 'acked', 'refused') then
		raise exception 'an edge cannot report %', w using errcode = 'invalid_parameter_value';
	end if;
	perform from item x join source s on s.id = x.source where x.id = i and s.owner = session_user;
	if not found then raise exception 'item % is not of a source of %', i, session_user using errcode = 'insufficient_privilege'; end if;
	perform from item x where x.id = i for update;
	if w = 'held' and exists (select from outcome o where o.item = i and o.what in ('sent', 'acked', 'refused')) then return; end if;
	if w = 'held' and last_outcome(i) = 'held' then return; end if;
	if w <> 'held' and exists (select from outcome o where o.item = i and o.what = w) then return; end if;
	insert into outcome (item, n, what, who, note, bytes)
		select i, coalesce(max(o.n), 0) + 1, w, session_user, left(why, 500), message from outcome o where o.item = i;
	if w <> 'held' then update item set outgoing = false where id = i; end if;
	perform tell(w, i, case when message is null then left(why, 200) else encode(sha256(message), 'hex') end);
end $$;

-- ---- reviewers ----

-- The highest level of the ladder that the login may decide on.
create or replace function reach()
returns int language sql stable set search_path = gavel, pg_temp as $$
	select case when not exists (select from ladder) then 2147483647
		else coalesce((select max(l.level) from ladder l join pg_roles r on r.rolname = l.role
			where pg_has_role(session_user, r.oid, 'member')), -1) end
$$;

create or replace function lease(secs float8)
returns timestamptz language sql volatile set search_path = gavel, pg_temp as $$
	select clock_timestamp() + greatest(1, least(secs, 3600)) * interval '1 second'
$$;

-- outcome: yours (until), held (by who, until), decided (by who), withdrawn, voted, above, unknown.
create or replace function claim(i bigint, secs float8, out outcome text, out fence bigint, out who text, out until timestamptz)
language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	x item;
begin
	select * into x from item where id = i for update;
	fence := coalesce(x.fence, 0);
	who := '';
	if x.id is null then
		outcome := 'unknown';
	elsif x.state <> 'open' then
		outcome := x.state;
		who := coalesce((select array_to_string(d.deciders, ', ') from decision d where d.item = i), '');
	elsif x.level > reach() then
		outcome := 'above';
	elsif exists (select from vote v where v.item = i and v.who = session_user) then
		outcome := 'voted';
	elsif x.until > clock_timestamp() and x.holder <> session_user then
		outcome := 'held';
		who := x.holder;
		until := x.until;
	else
		-- one's own claim is renewed, so that asking again changes nothing
		if x.holder is distinct from session_user or x.until <= clock_timestamp() then
			x.fence := x.fence + 1;
			perform tell('claimed', i, x.fence::text);
		end if;
		until := lease(secs);
		update item set holder = session_user, fence = x.fence, until = claim.until where id = i;
		outcome := 'yours';
		who := session_user;
		fence := x.fence;
	end if;
end $$;

-- Renews claims; those not returned are lost.
create or replace function beat(items bigint[], fences bigint[], secs float8)
returns table (item bigint, until timestamptz) language sql volatile security definer set search_path = gavel, pg_temp as $$
	update item x set until = lease(secs) from unnest(items, fences) as u (id, fence)
	where x.id = u.id and x.fence = u.fence and x.state = 'open' and x.holder = session_user and x.until > clock_timestamp()
	returning x.id, x.until
$$;

create or replace function release(i bigint, f bigint)
returns bool language plpgsql security definer set search_path = gavel, pg_temp as $$
begin
	update item x set holder = null, until = null
		where x.id = i and x.holder = session_user and x.fence = f and x.state = 'open';
	if found then perform tell('released', i, ''); end if;
	return found;
end $$;

-- Decides with a draft, or countersigns the same one. All but a refusal needs as many as the item asks for.
-- outcome: decided, yours (it was, before), second (who: "1 of 2"), already (who: by whom and what), changed,
-- withdrawn, lost (who: who has the claim), above, differs, unknown.
create or replace function decide(i bigint, f bigint, r text, v text, words text, out outcome text, out who text)
language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	me name := session_user;
	p bytea := sha256(convert_to(words, 'UTF8'));
	x item;
	d decision;
	alone bool := v in ('reject', 'stop');
	n int;
begin
	if current_setting('synchronous_commit') not in ('on', 'remote_apply') or current_setting('fsync') = 'off' then
		raise exception 'the server could forget decisions: synchronous_commit or fsync is off'
			using errcode = 'object_not_in_prerequisite_state';
	end if;
	if v not in ('accept', 'always', 'partial', 'reject', 'stop', 'answer', 'dismiss') then
		raise exception 'no verb %', v using errcode = 'invalid_parameter_value';
	end if;
	who := '';
	select * into x from item where id = i for update;
	if x.id is null then outcome := 'unknown'; return; end if;
	select * into d from decision where item = i;
	if d.item is not null then
		outcome := case when me = any (d.deciders) and d.print = p and d.verb = v and d.rev = r then 'yours' else 'already' end;
		who := array_to_string(d.deciders, ', ') || case outcome when 'already' then ' ' || d.verb else '' end;
		return;
	end if;
	if x.rev <> r then outcome := 'changed'; return; end if;
	if x.state <> 'open' then outcome := x.state; return; end if;
	select count(*) into n from vote y where y.item = i and y.rev = r;
	if exists (select from vote y where y.item = i and y.who = me and y.rev = r and y.verb = v and y.print = p) then
		outcome := 'second';
		who := n || ' of ' || x.need;
		return;
	end if;
	if x.level > reach() then outcome := 'above'; return; end if;
	if x.holder is distinct from me or x.fence <> f or x.until <= clock_timestamp() then
		outcome := 'lost';
		who := coalesce(case when x.until > clock_timestamp() then x.holder end, '');
		return;
	end if;
	if not alone and exists (select from vote y where y.item = i and y.rev = r and (y.print <> p or y.verb <> v)) then
		outcome := 'differs';
		return;
	end if;
	insert into vote (item, who, verb, rev, draft, print) values (i, me, v, r, words, p);
	n := n + 1;
	if not alone and n < x.need then
		update item set holder = null, until = null where id = i;
		perform tell('voted', i, v || ' ' || encode(p, 'hex'));
		outcome := 'second';
		who := n || ' of ' || x.need;
		return;
	end if;
	insert into decision (item, rev, verb, deciders, draft, print)
		select i, r, v, array_agg(y.who order by y.at), words, p from vote y where y.item = i and y.verb = v and y.print = p;
	update item set state = 'decided', outgoing = true, holder = null, until = null where id = i;
	perform tell('decided', i, v || ' ' || encode(p, 'hex'));
	outcome := 'decided';
	who := me;
end $$;

-- Lets what is decided of an item's bundle leave before the rest is. Returns how many decisions.
create or replace function dispatch_bundle(i bigint)
returns int language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	one bigint;
	n int := 0;
begin
	for one in insert into dispatch (item, who)
		select d.item, session_user from item a join item x on x.source = a.source and x.bundle = a.bundle
			join decision d on d.item = x.id
		where a.id = i and a.bundle <> '' and a.level <= reach() and last_outcome(d.item) is null
		on conflict do nothing returning dispatch.item
	loop
		n := n + 1;
		perform tell('dispatched', one, '');
	end loop;
	return n;
end $$;

-- A reviewer's word on what is held: send it again, or give it up.
create or replace function settle(i bigint, w text)
returns bool language plpgsql security definer set search_path = gavel, pg_temp as $$
begin
	if w not in ('resend', 'give_up') then
		raise exception 'what is held can be resent or given up, not %', w using errcode = 'invalid_parameter_value';
	end if;
	perform from item x where x.id = i and x.level <= reach() for update;
	if not found or last_outcome(i) is distinct from 'held' then return false; end if;
	insert into outcome (item, n, what, who, note) select i, max(o.n) + 1, w, session_user, '' from outcome o where o.item = i;
	perform tell(w, i, '');
	return true;
end $$;

-- To the next level, by the holder of the claim: raised, top, lost.
create or replace function escalate(i bigint, f bigint, why text)
returns text language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	x item;
	up ladder;
begin
	select * into x from item where id = i for update;
	if x.id is null or x.state <> 'open' or x.holder is distinct from session_user or x.fence <> f or x.until <= clock_timestamp() then
		return 'lost';
	end if;
	select * into up from ladder l where l.level > x.level order by l.level limit 1;
	if up.level is null then return 'top'; end if;
	update item set level = up.level, holder = null, until = null, due = clock_timestamp() + up.after where id = i;
	perform tell('raised', i, left(why, 200));
	return 'raised';
end $$;

-- Due items rise. Everybody who is connected asks for it every few seconds; all locks before all events, so
-- that two callers never wait for each other.
create or replace function tick()
returns int language plpgsql security definer set search_path = gavel, pg_temp as $$
declare
	risen bigint[];
	i bigint;
begin
	with late as (
		select x.id, (select l.level from ladder l where l.level > x.level order by l.level limit 1) as up
		from item x where x.state = 'open' and x.due < clock_timestamp()
			and exists (select from ladder l where l.level > x.level)
		order by x.id limit 100 for update of x skip locked),
	moved as (
		update item x set level = late.up, holder = null, until = null,
			due = clock_timestamp() + (select l.after from ladder l where l.level = late.up)
		from late where x.id = late.id returning x.id)
	select array_agg(id order by id) into risen from moved;
	foreach i in array coalesce(risen, '{}') loop
		perform tell('raised', i, '');
	end loop;
	return coalesce(cardinality(risen), 0);
end $$;

-- Lines of all sources behind a cursor, in an order that misses none: those of transactions that are still
-- open come later. Without statistics the planner would sort everything.
create or replace function tail(after_xid bigint, after_source int, after_seq bigint, since timestamptz, most int)
returns table (xid bigint, source int, seq bigint, at timestamptz, bytes bytea)
language sql stable set search_path = gavel, pg_temp
set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off as $$
	select l.xid::text::bigint, l.source, l.seq, l.at, l.bytes from line l
	where (l.xid, l.source, l.seq) > (after_xid::text::xid8, after_source, after_seq)
		and l.xid < pg_snapshot_xmin(pg_current_snapshot())
		and l.at > since - interval '1 hour'
	order by l.xid, l.source, l.seq limit most
$$;

-- ---- the owner ----

-- Forgets lines: whole days that ended so long ago.
create or replace function trim_lines(keep interval)
returns int language plpgsql set search_path = gavel, pg_temp as $$
declare
	before date := (clock_timestamp() at time zone 'UTC' - keep)::date;
	day text;
	n int := 0;
begin
	for day in select c.relname from pg_inherits h join pg_class c on c.oid = h.inhrelid
		where h.inhparent = 'gavel.line'::regclass and c.relname < 'line_' || to_char(before, 'YYYYMMDD')
	loop
		execute format('drop table %I', day);
		n := n + 1;
	end loop;
	if n > 0 then
		update meta set trimmed_before = (before || ' 00:00+00')::timestamptz;
		perform tell('trimmed', null, to_char(before, 'YYYY-MM-DD'));
	end if;
	return n;
end $$;

-- ---- rights ----

revoke all on schema gavel from public;
revoke all on all tables in schema gavel from public, gavel_agent, gavel_reviewer;
revoke all on all functions in schema gavel from public, gavel_agent, gavel_reviewer;
grant usage on schema gavel to gavel_agent, gavel_reviewer;
grant select on meta to gavel_agent, gavel_reviewer;
grant execute on function ship_open, ship, open_item, own_items, withdraw, outbox, report, tick to gavel_agent;
grant select on source, line, item, vote, decision, dispatch, outcome, ladder, head, event to gavel_reviewer;
grant execute on function claim, beat, release, decide, dispatch_bundle, settle, escalate, tick, reach, last_outcome,
	tail, chain_text to gavel_reviewer;

select make_days();
