import { type Json, listAt, textAt, valueAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import { QueryTabs } from '../../parts/menu.tsx'
import { Amount, dim, Facts, Hash, say } from '../../parts/text.tsx'
import { allOf, countOnly, hitsOf, type MultiSearchItem, OLDEST, term, useSearches } from './ask.ts'
import { documentPage, jsonTab, listTab, Neighbours, ThingHeader } from './page.tsx'
import { isHashText, numberAt, unitsAt } from './read.ts'
import { AddressLink, Gwei, ifPresent, RawBytes, When } from './values.tsx'

const isNumber = (id: string) => /^\d{1,15}$/.test(id)

export default documentPage(
  {
    what: 'block',
    kinds: ['block'],
    form: 'Enter a block number, or a hash: 0x and 64 hex digits.',
    isFormed: id => isNumber(id) || isHashText(id),
    ask(id) {
      const query = isNumber(id) ? term('number.num', Number(id)) : term('hash', id)
      return [{ kinds: ['block'], body: { query, size: 1, _source: { excludes: ['logsBloom', 'transactions'] } } }]
    },
  },
  ({ hit }) => {
    const height = numberAt(hit._source, 'number.num') ?? 0
    const around = useSearches(blockNeighbours(height))
    const [beside, ...counts] = around.data ?? []
    const neighbour = (number: number) =>
      hitsOf(beside).some(({ _source }) => numberAt(_source, 'number.num') === number) ? String(number) : undefined
    return (
      <>
        <ThingHeader
          id={hit._id}
          what="Block"
          title={String(height)}
          name={height.toLocaleString()}
          kinds="block,tx,event"
        >
          <Neighbours
            kind="block"
            what="block"
            previous={neighbour(height - 1)}
            next={neighbour(height + 1)}
            keys={['[', ']']}
          />
        </ThingHeader>
        <Facts class="thing-facts" of={blockFacts(hit)} />
        <Contents block={hit} height={height} counts={counts.map(({ hits }) => hits.total)} />
      </>
    )
  },
)

const inside = (height: number) => term('blockNumber.num', height)
const internalCalls = (height: number) => allOf(inside(height), { range: { depth: { gt: 0 } } })

/** Neighbours and counts per kind. */
const blockNeighbours = (height: number): MultiSearchItem[] => [
  {
    kinds: ['block'],
    body: { query: { terms: { 'number.num': [height - 1, height + 1].filter(it => it >= 0) } }, _source: ['number'] },
  },
  countOnly(['tx'], inside(height)),
  countOnly(['event'], inside(height)),
  countOnly(['call'], internalCalls(height)),
  countOnly(['tx'], allOf(inside(height), term('status', false))),
]

const blockFacts = ({ _id, _source: source }: SearchHit) => {
  const limit = unitsAt(source, 'gasLimit') ?? 0n
  const [blobs, extra] = [unitsAt(source, 'blobGasUsed'), textAt(source, 'extraData')]
  return {
    Hash: <Hash value={_id} />,
    Time: <When hit={{ _source: source }} />,
    'Fee recipient': <AddressLink value={textAt(source, 'miner')} />,
    'Gas used': ifPresent(unitsAt(source, 'gasUsed'), used => {
      const share = limit > 0n && dim` of ${<Amount value={limit} />}, ${shareOf(used, limit)}`
      return say`${<Amount value={used} />}${share}`
    }),
    'Base fee': ifPresent(unitsAt(source, 'baseFeePerGas'), fee => <Gwei value={fee} />),
    'Blob gas used': blobs !== undefined && blobs > 0n && <Amount value={blobs} />,
    Size: ifPresent(numberAt(source, 'size.num'), size => `${size.toLocaleString()} bytes`),
    'Parent block': ifPresent(textAt(source, 'parentHash'), hash => <Hash value={hash} kind="block" />),
    'Extra data': extra !== undefined && extra !== '0x' && <RawBytes hex={extra} most={80} />,
  }
}

const shareOf = (part: bigint, whole: bigint): string => `${(Number((part * 1000n) / whole) / 10).toLocaleString()} %`

interface ContentsProps {
  block: SearchHit
  height: number
  /** Counts of transactions, events, inner calls and failures; empty until read. */
  counts: readonly number[]
}

const Contents = ({ block, height, counts: [txs, events, calls, failed = 0] }: ContentsProps) => {
  const withdrawals = listAt(block._source, 'withdrawals')
  const list = { query: inside(height), sort: OLDEST, without: ['Time', 'Block'] }
  const inner = {
    label: 'Internal calls',
    query: internalCalls(height),
    none: 'Internal calls are known where blocks are indexed with traces.',
  }
  const tabs = [
    listTab('transactions', txs, list),
    listTab('events', events, list),
    listTab('calls', calls, { ...list, ...inner }),
    {
      name: 'withdrawals',
      title: `Withdrawals (${withdrawals.length})`,
      show: () => <Withdrawals of={withdrawals} />,
    },
    jsonTab('block', block._id),
  ]
  return (
    <>
      {failed > 0 && <p class="bad">{`${failed.toLocaleString()} of ${txs?.toLocaleString()} transactions failed.`}</p>}
      <QueryTabs
        label="Of the block"
        tabs={tabs.filter(({ name }) => name !== 'withdrawals' || withdrawals.length > 0)}
      />
    </>
  )
}

const Withdrawals = ({ of }: { of: readonly Json[] }) => (
  <ol class="plain">
    {of.map((withdrawal, i) => (
      <li key={i}>
        <Gwei value={BigInt(textAt(withdrawal, 'amount') ?? 0)} /> to{' '}
        <AddressLink value={textAt(withdrawal, 'address')} />{' '}
        {dim`validator ${Number(textAt(withdrawal, 'validatorIndex') ?? valueAt(withdrawal, 'validatorIndex'))}`}
      </li>
    ))}
  </ol>
)
