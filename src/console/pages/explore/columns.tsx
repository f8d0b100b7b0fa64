import { isJsonObject, type Json, listAt, member, stringifyJson, textAt, valueAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import { shortHex } from '../../parts/format.ts'
import { useKnown } from '../../parts/names.ts'
import type { Column } from '../../parts/table.tsx'
import { Amount, Coins, Hash, say, Text, Time } from '../../parts/text.tsx'
import { type Search, sortBy } from './state.ts'

const HEX = /^0x[0-9a-f]+$/i
const ADDRESS_FORMAT = /^0x[0-9a-f]{40}$/i

/** An address with its token symbol or contract name. */
const Address = ({ value, brief = false }: { value: string; brief?: boolean }) => {
  const known = useKnown(ADDRESS_FORMAT.test(value) ? value : '')
  return <Hash value={value} kind="address" name={known?.symbol ?? known?.name} brief={brief} />
}

const addressOf = (value: Json | undefined) =>
  typeof value === 'string' && value !== '' ? <Address value={value} brief /> : null

/** Computed columns, which every kind of hit has. */
const WORKED_OUT: Record<string, Column<SearchHit>> = {
  '@time': { title: 'Time', width: '21ch', cell: ({ _source }) => timeOf(valueAt(_source, 'timestamp')) },
  '@block': { title: 'Block', width: '10ch', align: 'right', cell: ({ _source }) => String(heightOf(_source) ?? '') },
  '@kind': { title: 'Kind', width: '9ch', cell: ({ _type }) => _type },
  '@thing': { title: 'Hash', width: '15ch', cell: hit => thingOf(hit) },
  '@what': { title: 'What', width: 'minmax(24ch, 3fr)', cell: hit => whatOf(hit) },
  '@amount': { title: 'Amount', width: '24ch', align: 'right', cell: hit => hitAmount(hit) },
}

export const TITLES: Record<string, string> = Object.fromEntries(
  Object.entries(WORKED_OUT).map(([name, { title }]) => [name, title]),
)

export const columnsFor = (search: Search, canSort: (field: string) => boolean): readonly Column<SearchHit>[] =>
  search.columns.map(name => {
    const column = Object.hasOwn(WORKED_OUT, name) ? WORKED_OUT[name]! : fieldColumn(name)
    const field = name === '@time' ? '@block' : name
    if (field.startsWith('@') ? field !== '@block' : !canSort(field)) return column
    const order = search.sort?.field === field ? search.sort.order : undefined
    return { ...column, sort: { order, toggle: () => sortBy(field, search) } }
  })

const fieldColumn = (name: string): Column<SearchHit> => ({
  title: name,
  width: 'minmax(14ch, 1fr)',
  cell: ({ _source }) => shownOf(name, valueAt(_source, name)),
})

const timeOf = (value: Json | undefined) =>
  typeof value === 'number' || typeof value === 'string' ? <Time value={value} brief /> : null

const HASH_KINDS = { hash: 'tx', transactionHash: 'tx', blockHash: 'block', parentHash: 'block' } as const

/** Renders a field by its type: address, amount, time or text. */
const shownOf = (field: string, value: Json | undefined) => {
  if (value === undefined || value === null) return <span class="dim">–</span>
  if (typeof value === 'string' && ADDRESS_FORMAT.test(value)) return <Address value={value} />
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value))
    return <Hash value={value} kind={HASH_KINDS[field as keyof typeof HASH_KINDS]} />
  if (field === 'timestamp') return timeOf(value)
  const raw = member(value, 'raw')
  if (isJsonObject(value) && typeof raw === 'string' && HEX.test(raw))
    return 'coin' in value ? <Coins value={raw} /> : <span class="amount">{BigInt(raw).toLocaleString()}</span>
  return <Text value={typeof value === 'string' ? value : stringifyJson(value)} most={200} brief />
}

const heightOf = (source: SearchHit['_source']) =>
  valueAt(source, 'number.num') ?? valueAt(source, 'blockNumber.num') ?? valueAt(source, 'firstSeen.num')

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
  return HEX.test(raw) ? <Coins value={raw} /> : null
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
  return <Amount value={units} decimals={token.decimals} symbol={token.symbol ?? token.name} />
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

/** An event or a call as text, with short hashes and addresses. */
const sayCall = (source: SearchHit['_source']) => {
  const said = textAt(source, 'str')
  return (
    <>
      {addressOf(valueAt(source, 'address') ?? valueAt(source, 'to'))}{' '}
      {said === undefined
        ? (sourceText(source, 'event') ?? sourceText(source, 'method') ?? 'an unknown function')
        : sourceText({ str: said.slice(0, 2_000).replace(/0x[0-9a-f]{40,}/gi, shortHex) }, 'str')}
    </>
  )
}

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
