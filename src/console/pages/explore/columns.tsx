import type { ComponentChildren } from 'preact'
import { isJsonObject, type Json, listAt, member, stringifyJson, textAt, valueAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import { useKnown } from '../../parts/names.ts'
import type { Column } from '../../parts/table.tsx'
import { Amount, Coins, Hash, say, Text, Time } from '../../parts/text.tsx'
import { AddressLink, Args, ArgumentValue, BlockLink } from '../things/values.tsx'
import { type Catalogue, sortPath } from './fields.ts'
import { type Search, sortBy } from './state.ts'

const HEX = /^0x[0-9a-f]+$/i
const ADDRESS_FORMAT = /^0x[0-9a-f]{40}$/i

const addressOf = (value: Json | undefined) =>
  typeof value === 'string' && value !== '' ? <AddressLink value={value} bare /> : null

/** Computed columns, which every kind of hit has. */
const WORKED_OUT: Record<string, Column<SearchHit>> = {
  '@time': {
    title: 'Time',
    width: '18ch',
    wraps: '10ch',
    cell: ({ _source }) => timeOf(valueAt(_source, 'timestamp')),
  },
  '@kind': { title: 'Kind', width: '7ch', cell: ({ _type }) => _type },
  '@what': {
    title: 'What',
    width: 'minmax(24ch, 3fr)',
    isMain: true,
    wraps: 'minmax(24ch, 1fr)',
    cell: hit => whatOf(hit),
  },
  '@amount': {
    title: 'Amount',
    width: '13ch',
    wraps: '13ch',
    align: 'right',
    isMain: true,
    cell: hit => hitAmount(hit),
  },
  '@block': { title: 'Block', width: '9ch', align: 'right', cell: ({ _source }) => heightOf(_source) },
  '@thing': { title: 'Hash', width: '14ch', cell: hit => thingOf(hit) },
}

export const TITLES: Record<string, string> = Object.fromEntries(
  Object.entries(WORKED_OUT).map(([name, { title }]) => [name, title]),
)

export const columnsFor = (search: Search, catalogue: Catalogue | undefined): readonly Column<SearchHit>[] =>
  search.columns.map(name => {
    const column = Object.hasOwn(WORKED_OUT, name) ? WORKED_OUT[name]! : fieldColumn(name, catalogue)
    const field = name === '@time' ? '@block' : name
    const canSort = catalogue !== undefined && sortPath(catalogue, field) !== undefined
    if (field.startsWith('@') ? field !== '@block' : !canSort) return column
    const order = search.sort?.field === field ? search.sort.order : undefined
    return { ...column, sort: { order, toggle: () => sortBy(field, search) } }
  })

const fieldColumn = (name: string, catalogue: Catalogue | undefined): Column<SearchHit> => {
  const fields = [...(catalogue?.fields.values() ?? [])]
  const isNumber = fields.some(it => it.shownAs === name && it.isNumber && !it.isInList)
  return {
    title: name,
    width: 'minmax(14ch, 1fr)',
    align: isNumber ? 'right' : undefined,
    cell: ({ _source }) => shownOf(name, valueAt(_source, name), true) ?? <span class="dim">–</span>,
  }
}

const timeOf = (value: Json | undefined) =>
  typeof value === 'number' || typeof value === 'string' ? <Time value={value} brief /> : null

const HASH_KINDS = {
  hash: 'tx',
  transactionHash: 'tx',
  blockHash: 'block',
  parentHash: 'block',
  transactions: 'tx',
} as const

/** Renders a field by its type: address, amount, time or text. */
const shownOf = (field: string, value: Json | undefined, brief: boolean): ComponentChildren => {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && ADDRESS_FORMAT.test(value)) return <AddressLink value={value} />
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value))
    return <Hash value={value} kind={HASH_KINDS[field as keyof typeof HASH_KINDS]} />
  if (field === 'timestamp') return timeOf(value)
  if (!brief && Array.isArray(value) && value.every(it => typeof it === 'string'))
    return value.map((it, i) => <div key={i}>{shownOf(field, it, false)}</div>)
  if (typeof value === 'number') return <span class="amount">{value.toLocaleString()}</span>
  const raw = member(value, 'raw')
  if (isJsonObject(value) && typeof raw === 'string' && HEX.test(raw)) {
    if (field === 'number' || field === 'blockNumber') return <BlockLink number={Number(raw)} />
    return 'coin' in value ? <Coins value={raw} /> : <Amount value={raw} />
  }
  return <Text value={typeof value === 'string' ? value : stringifyJson(value)} {...{ brief }} />
}

/** All that a document says, each value once. */
export const documentFacts = (source: SearchHit['_source']): Record<string, ComponentChildren> => {
  const args = listAt(source, 'args')
  const facts: Record<string, ComponentChildren> = {}
  const add = (value: Json, path: string) => {
    if (isJsonObject(value) && member(value, 'raw') === undefined)
      for (const [name, inner] of Object.entries(value)) add(inner, path === '' ? name : `${path}.${name}`)
    else if (path === 'args') facts[path] = args.length > 0 && <Args args={args} of={contractOf(source)} />
    // The arguments say the same.
    else if (path !== 'str' || args.length === 0) facts[path] = shownOf(path, value, false)
  }
  add(source, '')
  return facts
}

/** The contract that was called or that emitted the event. */
const contractOf = (source: SearchHit['_source']) => textAt(source, 'address') ?? textAt(source, 'to')

/** Name of the event, method or token of a hit; else its id. */
export const nameOf = ({ _id, _source }: SearchHit) =>
  ['event', 'method', 'symbol', 'name'].map(path => sourceText(_source, path)).find(it => it !== null) ?? (
    <Hash value={_id} />
  )

const heightOf = (source: SearchHit['_source']) => {
  const height = ['number', 'blockNumber', 'firstSeen'].map(it => valueAt(source, `${it}.num`)).find(Number.isInteger)
  return <BlockLink number={height as number | undefined} />
}

/** The block, transaction or contract of a hit. */
const thingOf = ({ _type, _id, _source }: SearchHit) => {
  if (_type === 'contract') return <Hash value={_id} kind="address" />
  if (_type === 'block' || _type === 'tx' || _type === 'token') return <Hash value={_id} kind={_type} />
  return <Hash value={textAt(_source, 'transactionHash') ?? _id} kind="tx" />
}

/** Amount moved by a hit: coins, or tokens whose decimals are known. */
const hitAmount = ({ _type, _source }: SearchHit) => {
  if (_type === 'event') return <TokenAmount source={_source} />
  const raw = textAt(_source, 'value.raw') ?? textAt(_source, 'action.value.raw') ?? ''
  return HEX.test(raw) && BigInt(raw) > 0n ? <Coins value={raw} brief /> : null
}

/** Argument names of token standards. */
const AMOUNTS = new Set(['value', 'amount', 'wad', 'tokens', '_value', '_amount', 'assets'])

const TokenAmount = ({ source }: { source: SearchHit['_source'] }) => {
  const token = useKnown(textAt(source, 'address') ?? '')
  const moved = listAt(source, 'args').find(
    it => AMOUNTS.has(textAt(it, 'name') ?? '') && /^uint\d+$/.test(textAt(it, 'value.type') ?? ''),
  )
  const units = textAt(moved, 'value.hex') ?? ''
  if (token?.decimals === undefined || !HEX.test(units)) return null
  return <Amount value={units} decimals={token.decimals} symbol={token.symbol ?? token.name} brief />
}

const sourceText = (source: SearchHit['_source'], path: string) => {
  const value = textAt(source, path)
  return value === undefined ? null : <Text value={value} most={300} brief />
}

const way = (from: Json | undefined, to: Json | undefined) =>
  say`${addressOf(from)} → ${addressOf(to) ?? 'a new contract'} `

const whatOf = ({ _type, _source: source }: SearchHit) => {
  const failed = valueAt(source, 'status') === false || valueAt(source, 'reverted') === true
  return (
    <>
      {failed && <span class="bad">failed </span>}
      {(Object.hasOwn(SAYINGS, _type) ? SAYINGS[_type]! : sayCall)(source)}
    </>
  )
}

/** An event or a call, with names and units in place of addresses and raw values. */
const sayCall = (source: SearchHit['_source']) => {
  const args = listAt(source, 'args')
  const name = sourceText(source, 'event') ?? sourceText(source, 'method')
  const of = contractOf(source)
  const said = args.length === 0 ? sourceText(source, 'str') : null
  return (
    <>
      {addressOf(of)} {said ?? name ?? 'an unknown function'}
      {args.length > 0 && '('}
      {args.slice(0, MOST_ARGUMENTS).map((argument, i) => (
        <span key={i}>
          {i > 0 && ', '}
          <Text value={textAt(argument, 'name') || String(i)} most={32} brief />=
          <ArgumentValue argument={argument} of={of} brief />
        </span>
      ))}
      {args.length > MOST_ARGUMENTS && ', …'}
      {args.length > 0 && ')'}
    </>
  )
}

const MOST_ARGUMENTS = 4

/** One-line texts of the other kinds. */
const SAYINGS: Record<string, typeof sayCall> = {
  block: source =>
    say`${listAt(source, 'transactions').length} transactions, by ${addressOf(valueAt(source, 'miner')) ?? 'nobody'}`,
  tx: source =>
    say`${way(valueAt(source, 'from'), valueAt(source, 'to'))} ${sourceText(source, 'method')} ${sourceText(source, 'error')}`,
  log: source => say`${addressOf(valueAt(source, 'address'))} ${sourceText(source, 'signature') ?? 'without a topic'}`,
  trace: source => (
    <>
      {sourceText(source, 'type')}{' '}
      {way(valueAt(source, 'action.from'), valueAt(source, 'action.to') ?? valueAt(source, 'action.author'))}{' '}
      {sourceText(source, 'error')}
    </>
  ),
  contract: source => (
    <>
      {sourceText(source, 'name')} {sourceText(source, 'standard')} created by{' '}
      {addressOf(valueAt(source, 'creator')) ?? 'the chain itself'}
    </>
  ),
  token: source => say`${sourceText(source, 'name')} ${sourceText(source, 'symbol')} ${sourceText(source, 'standard')}`,
}
