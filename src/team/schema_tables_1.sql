-- Version 1 of a team's store: its tables. They are never changed here: a later version has a file of its
-- own, with what changes. Who may do what with them is in schema_functions.sql.
--
-- Agents' machines put lines and items in, reviewers settle who decides; nobody but the owner writes to a
-- table, and even the owner does not change what was voted, decided or told.

create schema gavel;
set local search_path = gavel, pg_temp;

create table meta (
	one bool primary key default true check (one),
	version int not null,
	id uuid not null default gen_random_uuid(),
	made timestamptz not null default clock_timestamp(),
	trimmed_before timestamptz);     -- lines before that are gone
insert into meta (version) values (1);

-- A log of agents on one machine. Level, need and limits are set by the owner of the store.
create table source (
	id int generated always as identity primary key,
	name text not null unique check (length(name) between 1 and 200),
	owner name not null,
	made timestamptz not null default clock_timestamp(),
	head text,                                     -- tells logs of one name apart; null = not known yet
	next bigint not null default 0,                -- offset of the next line
	level int not null default 0,                  -- of its items, on the ladder
	need int not null default 1 check (need > 0),  -- how many must agree, at least
	open_max int not null default 1000,
	rate bigint not null default 4194304,          -- bytes a second, with room for a minute
	room float8 not null default 251658240,
	filled timestamptz not null default clock_timestamp());

-- What agents said: their lines, verbatim, at the byte offset they have in the agents' own log. One
-- partition a day (UTC), so that old ones go at once. xid: the order in which all sources can be read
-- without missing a line that is committed late (function tail).
create table line (
	source int not null,
	seq bigint not null,
	xid xid8 not null default pg_current_xact_id(),
	at timestamptz not null,
	bytes bytea not null check (octet_length(bytes) <= 16777216))
	partition by range (at);
alter table line alter column bytes set storage external;
create index line_seq on line (source, seq);
create index line_tail on line (xid, source, seq);

-- What waits for a person.
create table item (
	id bigint generated always as identity primary key,
	source int not null references source,
	key text not null,               -- SESSION/KIND:ID@RAISE
	rev text not null,               -- of its words; another one is another item
	try int not null default 0,      -- asked again because what was decided could not be said
	kind text not null,
	title text not null,
	body bytea not null check (octet_length(body) <= 16777216), -- an escalation queue's entry
	bundle text not null,            -- what is said in one message: a turn, a review; '' = by itself
	need int not null,
	level int not null,
	due timestamptz,
	opened timestamptz not null default clock_timestamp(),
	state text not null default 'open' check (state in ('open', 'decided', 'withdrawn')),
	holder name,
	fence bigint not null default 0, -- counts claims: an answer to an older one is late
	until timestamptz,
	outgoing bool not null default false, -- decided, and the edge's last word on it is not said
	unique (source, key, rev, try));
create index item_outgoing on item (source) where outgoing;
create index item_of on item (source, key) where state = 'open';
create index item_bundle on item (source, bundle) where state = 'open' and bundle <> '';
create index item_open on item (level desc, due nulls last, id) where state = 'open';

-- A draft is what a person decides, without name and time, as JSON. Two who countersign agree on its bytes.
create table vote (
	item bigint not null references item,
	who name not null,
	verb text not null,
	rev text not null,
	draft text not null,
	print bytea not null,            -- sha256 of the draft
	at timestamptz not null default clock_timestamp(),
	primary key (item, who));

create table decision (
	item bigint primary key references item,
	rev text not null,
	verb text not null,
	deciders name[] not null,
	draft text not null,
	print bytea not null,
	at timestamptz not null default clock_timestamp());

-- Decisions that leave although others of their bundle are still open.
create table dispatch (
	item bigint primary key references decision,
	who name not null,
	at timestamptz not null default clock_timestamp());

-- What became of a decision, the newest last: held, sent, acked, refused by the edge; resend, give_up by
-- a reviewer, of what is held.
create table outcome (
	item bigint not null references decision,
	n int not null,
	what text not null check (what in ('held', 'sent', 'acked', 'refused', 'resend', 'give_up')),
	who name not null,
	note text not null,
	bytes bytea,                     -- the message as it was sent
	at timestamptz not null default clock_timestamp(),
	primary key (item, n));

-- Who must be asked when nobody decides in time; empty = everybody may decide everything.
create table ladder (
	level int primary key,
	role name not null,
	after interval not null);        -- how long this level has, once an item has risen to it

-- All that happened, in the order of the commits, each with a hash over what was before (function tell).
create table head (
	one bool primary key default true check (one),
	n bigint not null,
	hash bytea not null);
insert into head values (true, 0, '\x');
create table event (
	n bigint primary key,
	at timestamptz not null,
	who name not null,
	what text not null,
	item bigint not null,            -- 0 = none
	note text not null,
	hash bytea not null);
