import { at, isObject, type Json, member, textAt, toJson } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { COIN_DECIMALS, coinOf } from '../../parts/format.ts'
import type { Column } from '../../parts/table.tsx'
import { Amount, Hash, short, Text, Time } from '../../parts/text.tsx'
import { isAddress, type NameOf, titleOf } from './known.ts'
import { type Search, sortBy } from './state.ts'

export interface Shown {
  search: Search
  nameOf: NameOf
  canSort(field: string): boolean
}

/** Columns that are worked out, which every kind of hit has. */
export const WORKED_OUT: Readonly<Record<string, string>> = {
  '@time': 'Time',
  '@block': 'Block',
  '@kind': 'Kind',
  '@thing': 'Hash',
  '@what': 'What',
  '@amount': 'Amount',
}

export const columnsFor = (shown: Shown): readonly Column<Hit>[] =>
  shown.search.columns.map(name =>
    withSort(name, Object.hasOwn(WORKED_OUT, name) ? workedOut(name, shown) : fieldColumn(name, shown), shown),
  )

const withSort = (name: string, column: Column<Hit>, { search, canSort }: Shown): Column<Hit> => {
  const field = name === '@time' || name === '@block' ? '@block' : name
  if (field.startsWith('@') ? field !== '@block' : !canSort(field)) return column
  const { sort } = search
  const order = sort?.field === field ? sort.order : undefined
  return { ...column, sort: { order, toggle: () => sortBy(field, search) } }
}

const fieldColumn = (name: string, { search, nameOf }: Shown): Column<Hit> => ({
  name,
  title: name,
  width: 'minmax(14ch, 1fr)',
  cell: ({ _source }) => <Cell value={at(_source, name)} field={name} network={search.network} nameOf={nameOf} />,
})

const workedOut = (name: string, { search: { network }, nameOf }: Shown): Column<Hit> => {
  const title = WORKED_OUT[name]!
  switch (name) {
    case '@time':
      return { name, title, width: '21ch', cell: ({ _source }) => <When value={at(_source, 'timestamp')} /> }
    case '@block':
      return { name, title, width: '10ch', align: 'right', cell: ({ _source }) => String(heightOf(_source) ?? '') }
    case '@kind':
      return { name, title, width: '9ch', cell: ({ _type }) => _type }
    case '@thing':
      return {
        ...{ name, title, width: '15ch' },
        cell: hit => {
          const { kind, value } = thingOf(hit)
          return <Hash value={value} kind={kind} network={network} />
        },
      }
    case '@amount':
      return {
        ...{ name, title, width: '24ch', align: 'right' },
        cell: hit => <HitAmount hit={hit} network={network} nameOf={nameOf} />,
      }
    default:
      return {
        name,
        title,
        width: 'minmax(24ch, 3fr)',
        cell: hit => <What hit={hit} network={network} nameOf={nameOf} />,
      }
  }
}

const When = ({ value }: { value: unknown }) =>
  typeof value === 'number' || typeof value === 'string' ? <Time value={value} brief /> : null

const heightOf = (source: Hit['_source']) =>
  at(source, 'number.num') ?? at(source, 'blockNumber.num') ?? at(source, 'firstSeen.num')

/** The thing that a hit is, or in which it happened. */
const thingOf = ({ _type, _id, _source }: Hit): { kind: 'block' | 'tx' | 'address' | 'token'; value: string } => {
  if (_type === 'block' || _type === 'tx') return { kind: _type, value: _id }
  if (_type === 'token') return { kind: 'token', value: _id }
  if (_type === 'contract') return { kind: 'address', value: _id }
  return { kind: 'tx', value: textAt(_source, 'transactionHash') ?? _id }
}

interface WhatProps {
  hit: Hit
  network: string
  nameOf: NameOf
}

const What = ({ hit: { _type, _source }, network, nameOf }: WhatProps) => {
  const failed = at(_source, 'status') === false || at(_source, 'reverted') === true
  const address = (value: Json | undefined) =>
    typeof value === 'string' && value !== '' ? (
      <Hash value={value} kind="address" network={network} name={titleOf(nameOf, value)} brief />
    ) : null
  const text = (path: string) => {
    const value = textAt(_source, path)
    return value === undefined ? null : <Text value={value} most={300} brief />
  }
  const way = (from: Json | undefined, to: Json | undefined) => (
    <>
      {address(from)} → {address(to) ?? 'a new contract'}{' '}
    </>
  )
  const transactions = at(_source, 'transactions')
  const parts = () => {
    switch (_type) {
      case 'block':
        return (
          <>
            {Array.isArray(transactions) ? transactions.length : 0} transactions, by{' '}
            {address(at(_source, 'miner')) ?? 'nobody'}
          </>
        )
      case 'tx':
        return (
          <>
            {way(at(_source, 'from'), at(_source, 'to'))} {text('method')} {text('error')}
          </>
        )
      case 'log':
        return (
          <>
            {address(at(_source, 'address'))} {text('signature') ?? 'without a topic'}
          </>
        )
      case 'trace':
        return (
          <>
            {text('type')} {way(at(_source, 'action.from'), at(_source, 'action.to') ?? at(_source, 'action.author'))}{' '}
            {text('error')}
          </>
        )
      case 'contract':
        return (
          <>
            {text('name')} {text('standard')} created by {address(at(_source, 'creator')) ?? 'the chain itself'}
          </>
        )
      case 'token':
        return (
          <>
            {text('name')} {text('symbol')} {text('standard')}
          </>
        )
      default:
        return (
          <>
            {address(at(_source, 'address') ?? at(_source, 'to'))}{' '}
            {called(textAt(_source, 'str')) ?? text('event') ?? text('method') ?? 'an unknown function'}
          </>
        )
    }
  }
  return (
    <>
      {failed && <span class="bad">failed </span>}
      {parts()}
    </>
  )
}

/** Hashes and addresses among the arguments are short, as everywhere in the table. */
const called = (str: string | undefined) =>
  str === undefined ? null : <Text value={str.slice(0, 2_000).replace(/0x[0-9a-f]{40,}/gi, short)} most={300} brief />

interface CellProps {
  value: Json | undefined
  field: string
  network: string
  nameOf: NameOf
}

const HASH = /^0x[0-9a-f]{64}$/i

/** A field's value as what it is: an address with its name, an amount with its decimals, a time, or text. */
export const Cell = ({ value, field, network, nameOf }: CellProps) => {
  if (value === undefined || value === null) return <span class="dim">–</span>
  if (isAddress(value)) return <Hash value={value} kind="address" network={network} name={titleOf(nameOf, value)} />
  if (typeof value === 'string' && HASH.test(value)) return <Hash value={value} {...kindOf(field, network)} />
  if (field === 'timestamp' && (typeof value === 'number' || typeof value === 'string'))
    return <Time value={value} brief />
  const raw = member(value, 'raw')
  if (isObject(value) && typeof raw === 'string' && /^0x[0-9a-f]+$/i.test(raw))
    return 'coin' in value ? (
      <Amount value={raw} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
    ) : (
      <span class="amount">{BigInt(raw).toLocaleString()}</span>
    )
  return <Text value={typeof value === 'string' ? value : toJson(value)} most={200} brief />
}

const kindOf = (field: string, network: string) =>
  field === 'hash' || field === 'transactionHash'
    ? ({ kind: 'tx', network } as const)
    : field === 'blockHash' || field === 'parentHash'
      ? ({ kind: 'block', network } as const)
      : {}

interface AmountProps {
  hit: Hit
  network: string
  nameOf: NameOf
}

/** How much a hit moved: of the chain's coin, or of a token whose decimals are known. */
export const HitAmount = ({ hit: { _type, _source }, network, nameOf }: AmountProps) => {
  if (_type === 'event') {
    const token = nameOf(textAt(_source, 'address') ?? '')
    const units = token?.decimals === undefined ? undefined : movedBy(at(_source, 'args'))
    if (token?.decimals === undefined || units === undefined) return null
    return <Amount value={units} decimals={token.decimals} symbol={token.symbol ?? token.name} />
  }
  const raw = textAt(_source, 'value.raw') ?? textAt(_source, 'action.value.raw')
  if (raw === undefined || !/^0x[0-9a-f]+$/i.test(raw)) return null
  return <Amount value={raw} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
}

/** As the standards of tokens, and those who follow them, call it. */
const NAMES = new Set(['value', 'amount', 'wad', 'tokens', '_value', '_amount', 'assets'])

const movedBy = (args: Json | undefined): string | undefined => {
  if (!Array.isArray(args)) return undefined
  const found = args.find(it => NAMES.has(textAt(it, 'name') ?? '') && /^uint\d+$/.test(textAt(it, 'value.type') ?? ''))
  const hex = textAt(found, 'value.hex')
  return hex !== undefined && /^0x[0-9a-f]+$/i.test(hex) ? hex : undefined
}
