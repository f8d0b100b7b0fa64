import { at, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Amount } from '../../parts/amount.tsx'
import { COIN_DECIMALS, coinOf } from '../../parts/coin.ts'
import { Hash } from '../../parts/hash.tsx'
import type { Column } from '../../parts/table.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../shell/router.tsx'
import { hrefOf } from '../../things.ts'
import { AddressLink } from './address-link.tsx'
import { numberAt, timeOf, unitsAt } from './read.ts'

export const HEIGHT = ['blockNumber', 'timestamp', 'transactionHash']
export const TX_FIELDS = [...HEIGHT, 'hash', 'from', 'to', 'contractAddress', 'value', 'method', 'status', 'error']
export const CALL_FIELDS = [...HEIGHT, 'from', 'to', 'value', 'method', 'str', 'selector', 'callType', 'reverted']
export const EVENT_FIELDS = [...HEIGHT, 'address', 'event', 'str', 'signature', 'data', 'logIndex']
export const MOVEMENT_FIELDS = [...HEIGHT, 'address', 'event', 'args', 'logIndex']

type Columns = Column<Hit>[]

/** Where it happened. */
export const placeColumns = (network: string): Columns => [
  {
    name: 'time',
    title: 'Time',
    width: '17ch',
    cell: ({ _source }) => {
      const time = timeOf(_source)
      return time === undefined ? null : <Time value={time} brief />
    },
  },
  {
    name: 'block',
    title: 'Block',
    width: '9ch',
    align: 'right',
    cell: ({ _source }) => <BlockLink network={network} number={numberAt(_source, 'blockNumber.num')} />,
  },
  { name: 'tx', title: 'Transaction', width: '16ch', cell: hit => <TxLink network={network} hit={hit} /> },
]

export const BlockLink = ({ network, number }: { network: string; number: number | undefined }) => {
  if (number === undefined) return null
  const href = hrefOf(network, 'block', String(number))
  return href === undefined ? number : <Link to={href}>{number}</Link>
}

const TxLink = ({ network, hit: { _type, _id, _source } }: { network: string; hit: Hit }) => (
  <Hash value={_type === 'tx' ? _id : (textAt(_source, 'transactionHash') ?? '')} kind="tx" network={network} />
)

const address = (network: string, name: string, title: string, path: string): Column<Hit> => ({
  name,
  title,
  width: '16ch',
  cell: ({ _source }) => <AddressLink network={network} value={textAt(_source, path)} />,
})

const value = (network: string): Column<Hit> => ({
  name: 'value',
  title: 'Value',
  width: 'minmax(12ch, 1fr)',
  align: 'right',
  cell: ({ _source }) => {
    const units = unitsAt(_source, 'value')
    return units === undefined ? null : <Amount value={units} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
  },
})

export const txColumns = (network: string): Columns => [
  ...placeColumns(network),
  address(network, 'from', 'From', 'from'),
  {
    name: 'to',
    title: 'To',
    width: '16ch',
    cell: ({ _source }) => (
      <AddressLink network={network} value={textAt(_source, 'to') ?? textAt(_source, 'contractAddress')} />
    ),
  },
  {
    name: 'method',
    title: 'What',
    width: 'minmax(16ch, 2fr)',
    cell: ({ _source }) => (
      <>
        {_source.status === false && <span class="bad">failed </span>}
        <Text value={whatOf(_source)} most={100} brief />
      </>
    ),
  },
  value(network),
]

const whatOf = (source: Hit['_source']): string => {
  const what = textAt(source, 'method') ?? (at(source, 'to') === null ? 'creates a contract' : '')
  return [what, textAt(source, 'error')].filter(Boolean).join(' · ')
}

export const callColumns = (network: string): Columns => [
  ...placeColumns(network),
  address(network, 'from', 'From', 'from'),
  address(network, 'to', 'To', 'to'),
  {
    name: 'what',
    title: 'What',
    width: 'minmax(20ch, 3fr)',
    cell: ({ _source }) => (
      <>
        {_source.reverted === true && <span class="bad">failed </span>}
        <Text value={textAt(_source, 'str') ?? textAt(_source, 'selector') ?? 'without call data'} brief />
      </>
    ),
  },
  value(network),
]

export const eventColumns = (network: string): Columns => [
  ...placeColumns(network),
  address(network, 'address', 'Contract', 'address'),
  {
    name: 'what',
    title: 'Event',
    width: 'minmax(24ch, 3fr)',
    cell: ({ _source }) => (
      <Text value={textAt(_source, 'str') ?? textAt(_source, 'event') ?? 'not decoded'} most={300} brief />
    ),
  },
]
