import { at, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Hash } from '../../parts/hash.tsx'
import type { Column } from '../../parts/table.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'

/** What every kind of hit has, and the sentence that says what it is. */
export const columnsFor = (network: string): readonly Column<Hit>[] => [
  { name: 'time', title: 'Time', width: '17ch', cell: ({ _source }) => <When value={at(_source, 'timestamp')} /> },
  {
    name: 'block',
    title: 'Block',
    width: '10ch',
    align: 'right',
    cell: ({ _source }) => String(heightOf(_source) ?? ''),
  },
  { name: 'kind', title: 'Kind', width: '9ch', cell: ({ _type }) => _type },
  {
    name: 'id',
    title: 'Hash',
    width: '15ch',
    cell: hit => {
      const { kind, value } = thingOf(hit)
      return <Hash value={value} kind={kind} network={network} />
    },
  },
  { name: 'what', title: 'What', width: 'minmax(20ch, 1fr)', cell: hit => <What hit={hit} /> },
]

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

const What = ({ hit: { _type, _source } }: { hit: Hit }) => {
  const failed = at(_source, 'status') === false || at(_source, 'reverted') === true
  return (
    <>
      {failed && <span class="bad">failed </span>}
      <Text value={sentenceOf(_type, _source)} most={300} brief />
    </>
  )
}

const sentenceOf = (kind: string, source: Hit['_source']): string => {
  const text = (path: string) => textAt(source, path)
  const way = (from: string | undefined, to: string | undefined) => `${from ?? ''} → ${to ?? 'a new contract'}`
  const transactions = at(source, 'transactions')
  switch (kind) {
    case 'block':
      return `${Array.isArray(transactions) ? transactions.length : 0} transactions, by ${text('miner') ?? 'nobody'}`
    case 'tx':
      return [way(text('from'), text('to')), text('method'), text('error')].filter(Boolean).join(' · ')
    case 'log':
      return `${text('address') ?? ''} · ${text('signature') ?? 'without a topic'}`
    case 'trace':
      return [text('type'), way(text('action.from'), text('action.to') ?? text('action.author')), text('error')]
        .filter(Boolean)
        .join(' · ')
    case 'contract':
      return [text('name'), text('standard'), `created by ${text('creator') ?? 'the chain itself'}`]
        .filter(Boolean)
        .join(' · ')
    case 'token':
      return [text('name'), text('symbol'), text('standard')].filter(Boolean).join(' · ')
    default:
      return text('str') ?? text('event') ?? text('method') ?? `an unknown function of ${text('to') ?? ''}`
  }
}
