import { at, type JsonObject, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Tabs } from '../../parts/controls.tsx'
import { Amount, Hash, Time } from '../../parts/text.tsx'
import { useQueryState } from '../../shell/router.tsx'
import { count, hitsOf, OLDEST, type Search, term, useSearches } from './ask.ts'
import { Head, List, Missing, Neighbours, type ThingProps, thingPage, WholeDocument } from './page.tsx'
import { isHash, listAt, numberAt, timeOf, unitsAt } from './read.ts'
import {
  AddressLink,
  CALL_FIELDS,
  callColumns,
  EVENT_FIELDS,
  eventColumns,
  Fact,
  Facts,
  Gwei,
  Raw,
  TX_FIELDS,
  txColumns,
} from './values.tsx'

const Block = ({ network, id }: ThingProps) => {
  const isNumber = /^\d{1,15}$/.test(id)
  const isFormed = isNumber || isHash(id)
  const query = isNumber ? term('number.num', Number(id)) : term('hash', id)
  const asked: Search = {
    kinds: ['block'],
    body: { query, size: 1, _source: { excludes: ['logsBloom', 'transactions'] } },
  }
  const found = useSearches(network, isFormed ? [asked] : undefined)
  const block = hitsOf(found.data?.[0])[0]
  const height = isNumber ? Number(id) : numberAt(block?._source, 'number.num')
  const around = useSearches(network, height === undefined ? undefined : aroundOf(height))

  if (found.error !== undefined)
    return <Fault title="The block cannot be read" error={found.error} again={found.again} />
  if (isFormed && !found.data) return <Busy label="Reading the block" />
  if (!block || height === undefined)
    return (
      <Missing
        {...{ network, id, isFormed }}
        what="block"
        kinds={['block']}
        form="A block is named by its number, or by its hash: 0x and 64 hex digits."
      />
    )
  const [beside, ...counts] = around.data ?? []
  const neighbour = (number: number) => hitsOf(beside).some(hit => numberAt(hit._source, 'number.num') === number)
  return (
    <>
      <Head
        network={network}
        id={block._id}
        what="Block"
        title={String(height)}
        name={height.toLocaleString()}
        kinds="block,tx,event"
      >
        <Neighbours
          {...{ network, what: 'block' }}
          kind="block"
          previous={neighbour(height - 1) ? String(height - 1) : undefined}
          next={neighbour(height + 1) ? String(height + 1) : undefined}
          keys={['[', ']']}
        />
      </Head>
      <BlockFacts network={network} source={block._source} hash={block._id} />
      <Contents network={network} block={block} height={height} counts={counts.map(({ hits }) => hits.total)} />
    </>
  )
}

export default thingPage(Block)

/** Neighbours, and how much there is of each kind. */
const aroundOf = (height: number): Search[] => {
  const inside = term('blockNumber.num', height)
  return [
    {
      kinds: ['block'],
      body: { query: { terms: { 'number.num': [height - 1, height + 1].filter(it => it >= 0) } }, _source: ['number'] },
    },
    count(['tx'], inside),
    count(['event'], inside),
    count(['call'], { bool: { filter: [inside, { range: { depth: { gt: 0 } } }] } }),
    count(['tx'], { bool: { filter: [inside, term('status', false)] } }),
  ]
}

const BlockFacts = ({ network, source, hash }: { network: string; source: JsonObject; hash: string }) => {
  const [time, used, limit] = [timeOf(source), unitsAt(source, 'gasUsed'), unitsAt(source, 'gasLimit')]
  const [fee, size] = [unitsAt(source, 'baseFeePerGas'), numberAt(source, 'size.num')]
  const blobs = unitsAt(source, 'blobGasUsed')
  const extra = textAt(source, 'extraData')
  return (
    <Facts>
      <Fact name="Hash">
        <Hash value={hash} />
      </Fact>
      <Fact name="Time">{time !== undefined && <Time value={time} />}</Fact>
      <Fact name="Fees went to">
        <AddressLink network={network} value={textAt(source, 'miner')} />
      </Fact>
      <Fact name="Gas used">
        {used !== undefined && (
          <>
            <Amount value={used} />
            {limit !== undefined && limit > 0n && (
              <span class="dim">
                {' '}
                of <Amount value={limit} />, {share(used, limit)}
              </span>
            )}
          </>
        )}
      </Fact>
      <Fact name="Base fee">{fee !== undefined && <Gwei value={fee} />}</Fact>
      <Fact name="Blob gas used">{blobs !== undefined && blobs > 0n && <Amount value={blobs} />}</Fact>
      <Fact name="Size">{size !== undefined && `${size.toLocaleString()} bytes`}</Fact>
      <Fact name="Block below">
        {textAt(source, 'parentHash') && <Hash value={textAt(source, 'parentHash')!} kind="block" network={network} />}
      </Fact>
      <Fact name="Extra data">{extra !== undefined && extra !== '0x' && <Raw hex={extra} most={80} />}</Fact>
    </Facts>
  )
}

const share = (part: bigint, whole: bigint): string => `${(Number((part * 1000n) / whole) / 10).toLocaleString()} %`

interface ContentsProps {
  network: string
  block: Hit
  height: number
  /** Of transactions, events, calls inside and failed transactions; empty until they have come. */
  counts: readonly number[]
}

const Contents = ({ network, block, height, counts: [txs, events, calls, failed] }: ContentsProps) => {
  const [tab, setTab] = useQueryState('tab', 'transactions')
  const withdrawals = listAt(block._source, 'withdrawals')
  const told = (title: string, count: number | undefined) =>
    count === undefined ? title : `${title} (${count.toLocaleString()})`
  const tabs = [
    { name: 'transactions', title: told('Transactions', txs) },
    { name: 'events', title: told('Events', events) },
    { name: 'calls', title: told('Calls inside', calls) },
    ...(withdrawals.length > 0 ? [{ name: 'withdrawals', title: told('Withdrawals', withdrawals.length) }] : []),
    { name: 'json', title: 'JSON' },
  ]
  const inside = term('blockNumber.num', height)
  const current = tabs.some(({ name }) => name === tab) ? tab : 'transactions'
  return (
    <Tabs label="What is in the block" tabs={tabs} current={current} onChange={name => setTab(name, { replace: true })}>
      {current === 'transactions' && (
        <>
          {failed !== undefined && failed > 0 && (
            <p class="bad">
              {failed.toLocaleString()} of {txs?.toLocaleString()} failed
            </p>
          )}
          <List
            key="transactions"
            {...{ network, sort: OLDEST }}
            label="Transactions"
            kinds={['tx']}
            query={inside}
            columns={txColumns(network).slice(2)}
            fields={TX_FIELDS}
            none={<p>The block has no transactions.</p>}
          />
        </>
      )}
      {current === 'events' && (
        <List
          key="events"
          {...{ network, sort: OLDEST }}
          label="Events"
          kinds={['event']}
          query={inside}
          columns={eventColumns(network).slice(2)}
          fields={EVENT_FIELDS}
          none={<p>The block has no events.</p>}
        />
      )}
      {current === 'calls' && (
        <List
          key="calls"
          {...{ network, sort: OLDEST }}
          label="Calls inside"
          kinds={['call']}
          query={{ bool: { filter: [inside, { range: { depth: { gt: 0 } } }] } }}
          columns={callColumns(network).slice(2)}
          fields={CALL_FIELDS}
          none={<p>Calls inside of transactions are known where blocks are indexed with traces.</p>}
        />
      )}
      {current === 'withdrawals' && <Withdrawals network={network} withdrawals={withdrawals} />}
      {current === 'json' && <WholeDocument network={network} kind="block" id={block._id} />}
    </Tabs>
  )
}

const Withdrawals = ({ network, withdrawals }: { network: string; withdrawals: ReturnType<typeof listAt> }) => (
  <ol class="plain">
    {withdrawals.map((withdrawal, i) => (
      <li key={i}>
        <Gwei value={BigInt(textAt(withdrawal, 'amount') ?? 0)} /> to{' '}
        <AddressLink network={network} value={textAt(withdrawal, 'address')} />{' '}
        <span class="dim">
          validator {Number(textAt(withdrawal, 'validatorIndex') ?? at(withdrawal, 'validatorIndex'))}
        </span>
      </li>
    ))}
  </ol>
)
