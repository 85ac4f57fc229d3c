/** The tables of the simulated ledger, in a schema of their own that no engine repository reads. */
export const ddl: ReadonlyArray<string> = [
  `create schema if not exists ledger_sim`,
  `create table if not exists ledger_sim.head (
    one boolean primary key default true check (one),
    ledger_id text not null,
    participant_id text not null,
    "offset" bigint not null default 0,
    clock_floor timestamptz not null default 'epoch',
    epoch bigint not null default 0,
    pruned_offset bigint not null default 0
  )`,
  `create table if not exists ledger_sim.tx (
    "offset" bigint primary key,
    update_id text not null unique,
    change_id text not null,
    command_id text not null,
    user_id text not null,
    workflow_id text,
    act_as text[] not null,
    effective_at timestamptz not null,
    record_time timestamptz not null,
    nodes jsonb not null,
    traceparent text
  )`,
  `create table if not exists ledger_sim.contract (
    contract_id text primary key,
    package text not null,
    module text not null,
    entity text not null,
    package_id text not null,
    created_offset bigint not null,
    archived_offset bigint,
    created_at timestamptz not null,
    signatories text[] not null,
    observers text[] not null,
    args jsonb not null
  )`,
  `create index if not exists contract_active on ledger_sim.contract (created_offset, contract_id)
    where archived_offset is null`,
  `create index if not exists contract_created on ledger_sim.contract (created_offset, contract_id)`,
  `create table if not exists ledger_sim.completion (
    "offset" bigint primary key,
    change_id text not null,
    user_id text not null,
    command_id text not null,
    submission_id text not null,
    act_as text[] not null,
    record_time timestamptz not null,
    ok boolean not null,
    error jsonb,
    update_id text,
    check (ok = (update_id is not null) and ok = (error is null))
  )`,
  `create index if not exists completion_time on ledger_sim.completion (record_time) where ok`,
  `create table if not exists ledger_sim.party (
    party text primary key,
    hint text not null,
    kind text not null check (kind in ('local', 'external')),
    public_key bytea not null check (length(public_key) = 32),
    made bigint generated always as identity
  )`,
  `create table if not exists ledger_sim.user_account (
    user_id text primary key,
    token_hash text unique,
    rights jsonb not null,
    expires_at timestamptz,
    active boolean not null,
    made bigint generated always as identity
  )`,
  `create table if not exists ledger_sim.wish (
    what text primary key check (what in ('faults', 'prune')),
    body jsonb not null
  )`
]
