import { at, type JsonObject, textAt } from '../../api/json.ts'
import type { Hit, SearchAnswer } from '../../api/wire.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Tabs } from '../../parts/controls.tsx'
import type { Column } from '../../parts/table.tsx'
import { Hash, Text, Time } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import { Link, useQueryState } from '../../shell/router.tsx'
import { any, byId, count, hitsOf, NEWEST, OLDEST, type Search, term, useSearches } from './ask.ts'
import { Contract } from './contract.tsx'
import { Head, List, Looked, Missing, type ThingProps, thingPage } from './page.tsx'
import { bucketsOf, isAddress, numberAt, timeOf } from './read.ts'
import {
  AddressLink,
  BlockLink,
  CALL_FIELDS,
  callColumns,
  EVENT_FIELDS,
  eventColumns,
  Fact,
  Facts,
  MOVEMENT_FIELDS,
  movementColumns,
  movementsOf,
  placeColumns,
  TX_FIELDS,
  txColumns,
} from './values.tsx'

const Address = ({ network, id }: ThingProps) => {
  const isFormed = isAddress(id)
  const found = useSearches(network, isFormed ? whatOf(id) : undefined)
  const counted = useSearches(network, isFormed ? countsOf(id) : undefined)
  if (!isFormed)
    return (
      <Missing
        {...{ network, id, isFormed }}
        what="address"
        kinds={['tx', 'event']}
        form="An address is 0x and 40 hex digits."
      />
    )
  const [creations, [token] = []] = (found.data ?? []).map(hitsOf)
  const contract = creations?.[0]
  const name = textAt(contract?._source, 'name') ?? textAt(token?._source, 'name') ?? textAt(token?._source, 'symbol')
  const counts = counted.data && toCounts(counted.data)
  const isSilent =
    counts && !contract && !token && Object.values(counts).every(it => typeof it !== 'number' || it === 0)
  return (
    <>
      <Head
        {...{ network, id }}
        what={found.data === undefined ? 'Address' : contract ? 'Contract' : 'Account'}
        kinds="tx,event,call"
        {...(name && { title: name, name: <Text value={name} most={60} brief /> })}
      />
      {found.error !== undefined && (
        <Fault title="The contract cannot be read" error={found.error} again={found.again} />
      )}
      <Facts>
        <Fact name="Address">
          <Hash value={textAt(contract?._source, 'address') ?? id} />
        </Fact>
        {contract && <Created network={network} contract={contract} times={creations!.length} />}
        <Fact name="Token">{token && <TokenLink network={network} id={id} token={token._source} />}</Fact>
        {counts && <Seen network={network} answers={counted.data!} />}
      </Facts>
      {!found.data && found.error === undefined && <Busy label="Reading the address" />}
      {counted.error !== undefined && (
        <Fault title="The counts cannot be read" error={counted.error} again={counted.again} />
      )}
      {isSilent && (
        <section class="missing" aria-label="Nothing found">
          <h2>Nothing that is held has to do with this address</h2>
          <Looked network={network} kinds={['tx', 'call', 'event', 'contract', 'token']} />
        </section>
      )}
      {found.data && !isSilent && <AddressTabs {...{ network, id, contract, counts }} />}
    </>
  )
}

export default thingPage(Address)

const whatOf = (id: string): Search[] => [
  { kinds: ['contract'], body: { query: term('address', id), sort: NEWEST, size: 10 } },
  byId(['token'], id),
]

const parties = (id: string) => any(term('from', id), term('to', id))

const countsOf = (id: string): Search[] => {
  const edge = (sort: JsonObject[]): Search => ({
    kinds: ['tx'],
    body: { query: parties(id), sort, size: 1, _source: ['timestamp', 'blockNumber'] },
  })
  return [
    edge(OLDEST),
    edge(NEWEST),
    count(['tx'], term('from', id)),
    count(['tx'], term('to', id)),
    count(['call'], parties(id)),
    count(['event'], term('address', id)),
    count(['event'], movementsOf(id)),
    count(['contract'], any(term('creator', id), term('origin', id))),
    count(['block'], term('miner', id)),
  ]
}

const toCounts = (answers: readonly SearchAnswer[]): Counts => {
  const [, all, sent, received, calls, events, movements, created, blocks] = answers.map(({ hits }) => hits.total)
  return {
    txs: all!,
    sent: sent!,
    received: received!,
    calls: calls!,
    events: events!,
    movements: movements!,
    created: created!,
    blocks: blocks!,
  }
}

const Created = ({ network, contract: { _source }, times }: { network: string; contract: Hit; times: number }) => {
  const creator = textAt(_source, 'creator')
  const hash = textAt(_source, 'transactionHash')
  const size = numberAt(_source, 'codeSize')
  return (
    <>
      <Fact name="Created by">
        <AddressLink network={network} value={creator} />
      </Fact>
      <Fact name="Created in">
        {hash && <Hash value={hash} kind="tx" network={network} />} <span class="dim">block</span>{' '}
        <BlockLink network={network} number={numberAt(_source, 'blockNumber.num')} />
        {times > 1 && <span class="dim"> (the latest of {times} creations)</span>}
      </Fact>
      <Fact name="Standard">
        {textAt(_source, 'standard') && <Text value={textAt(_source, 'standard')!} most={60} />}
      </Fact>
      <Fact name="Code">{size === undefined ? undefined : `${size.toLocaleString()} bytes`}</Fact>
    </>
  )
}

const TokenLink = ({ network, id, token }: { network: string; id: string; token: JsonObject }) => {
  const text = textAt(token, 'symbol') || textAt(token, 'name') || 'without a name'
  return (
    <>
      <Link to={hrefOf(network, 'token', id) ?? '/'}>
        <Text value={text} most={60} brief />
      </Link>{' '}
      <span class="dim">
        <Text value={textAt(token, 'standard') ?? ''} most={60} brief />
      </span>
    </>
  )
}

const Seen = ({ network, answers: [oldest, newest] }: { network: string; answers: readonly SearchAnswer[] }) => {
  const moment = (answer: SearchAnswer | undefined) => {
    const source = hitsOf(answer)[0]?._source
    const time = source && timeOf(source)
    return (
      time !== undefined && (
        <>
          <Time value={time} /> <span class="dim">block</span>{' '}
          <BlockLink network={network} number={numberAt(source, 'blockNumber.num')} />
        </>
      )
    )
  }
  return (
    <>
      <Fact name="First transaction">{moment(oldest)}</Fact>
      <Fact name="Last transaction">{moment(newest)}</Fact>
    </>
  )
}

/** How much an address has to do with. */
export interface Counts {
  txs: number
  sent: number
  received: number
  calls: number
  events: number
  movements: number
  created: number
  blocks: number
}

interface TabsProps extends ThingProps {
  contract: Hit | undefined
  /** Undefined until they have come. */
  counts: Counts | undefined
}

const SIDES = [
  { name: '', title: 'In and out', of: (id: string) => any(term('from', id), term('to', id)) },
  { name: 'out', title: 'Out', of: (id: string) => term('from', id) },
  { name: 'in', title: 'In', of: (id: string) => term('to', id) },
]

export const AddressTabs = ({ network, id, contract, counts }: TabsProps) => {
  const [tab, setTab] = useQueryState('tab', 'transactions')
  const told = (title: string, count: number | undefined) =>
    count === undefined ? title : `${title} (${count.toLocaleString()})`
  const tabs = [
    { name: 'transactions', title: told('Transactions', counts?.txs) },
    { name: 'calls', title: told('Calls', counts?.calls) },
    ...(contract ? [{ name: 'events', title: told('Events', counts?.events) }] : []),
    { name: 'movements', title: told('Movements', counts?.movements) },
    { name: 'tokens', title: 'Tokens' },
    ...((counts?.created ?? 0) > 0 ? [{ name: 'created', title: told('Created', counts?.created) }] : []),
    ...((counts?.blocks ?? 0) > 0 ? [{ name: 'blocks', title: told('Blocks', counts?.blocks) }] : []),
    ...(contract ? [{ name: 'contract', title: 'Contract' }] : []),
  ]
  const current = tabs.some(({ name }) => name === tab) ? tab : 'transactions'
  return (
    <Tabs label="Of the address" tabs={tabs} current={current} onChange={name => setTab(name, { replace: true })}>
      {current === 'tokens' && <AddressTokens network={network} id={id} />}
      {current === 'contract' && contract && <Contract network={network} id={id} contract={contract._source} />}
      {current !== 'tokens' && current !== 'contract' && <OneList {...{ network, id, counts }} current={current} />}
    </Tabs>
  )
}

const OneList = ({ network, id, counts, current }: ThingProps & { counts: Counts | undefined; current: string }) => {
  const [sideName, setSide] = useQueryState('side')
  const side = SIDES.find(({ name }) => name === sideName) ?? SIDES[0]!
  const totals: Record<string, number | undefined> = { in: counts?.received, out: counts?.sent }
  const common = { network, none: <p>The blocks that are held show none.</p> }
  const choose = (
    <label class="choose">
      Show{' '}
      <select value={side.name} onChange={event => setSide(event.currentTarget.value, { replace: true })}>
        {SIDES.map(({ name, title }) => (
          <option key={name} value={name}>
            {current === 'transactions' && totals[name] !== undefined ? `${title} (${totals[name]})` : title}
          </option>
        ))}
      </select>
    </label>
  )
  switch (current) {
    case 'calls':
      return (
        <>
          {choose}
          <List
            key={`calls ${side.name}`}
            {...common}
            label="Calls"
            kinds={['call']}
            query={side.of(id)}
            columns={callColumns(network)}
            fields={CALL_FIELDS}
          />
        </>
      )
    case 'events':
      return (
        <List
          key="events"
          {...common}
          label="Events"
          kinds={['event']}
          query={term('address', id)}
          columns={eventColumns(network).filter(({ name }) => name !== 'address')}
          fields={EVENT_FIELDS}
        />
      )
    case 'movements':
      return (
        <List
          key="movements"
          {...common}
          label="Movements"
          kinds={['event']}
          query={movementsOf(id)}
          columns={movementColumns(network, { token: true })}
          fields={MOVEMENT_FIELDS}
        />
      )
    case 'created':
      return (
        <List
          key="created"
          {...common}
          label="Created contracts"
          kinds={['contract']}
          query={any(term('creator', id), term('origin', id))}
          columns={createdColumns(network)}
          fields={['address', 'name', 'standard', 'transactionHash', 'blockNumber', 'timestamp']}
          thingOf={hit => ({ kind: 'address', id: hit._id })}
        />
      )
    case 'blocks':
      return (
        <List
          key="blocks"
          {...common}
          label="Blocks"
          kinds={['block']}
          query={term('miner', id)}
          columns={blockColumns(network)}
          fields={['number', 'timestamp', 'gasUsed']}
          thingOf={hit => ({ kind: 'block', id: hit._id })}
        />
      )
    default:
      return (
        <>
          {choose}
          <List
            key={`transactions ${side.name}`}
            {...common}
            label="Transactions"
            kinds={['tx']}
            query={side.of(id)}
            columns={txColumns(network)}
            fields={TX_FIELDS}
          />
        </>
      )
  }
}

const createdColumns = (network: string): Column<Hit>[] => [
  ...placeColumns(network),
  {
    name: 'address',
    title: 'Contract',
    width: '18ch',
    cell: ({ _source }) => <AddressLink network={network} value={textAt(_source, 'address')} />,
  },
  { name: 'standard', title: 'Standard', cell: ({ _source }) => standardOf(_source) },
]

const standardOf = (source: JsonObject) => <Text value={textAt(source, 'standard') ?? ''} brief />

const blockColumns = (network: string): Column<Hit>[] => [
  ...placeColumns(network).slice(0, 1),
  {
    name: 'number',
    title: 'Block',
    cell: ({ _source }) => <BlockLink network={network} number={numberAt(_source, 'number.num')} />,
  },
]

const MOST = 100

/** Tokens of which the address got or gave. */
export const AddressTokens = ({ network, id }: ThingProps) => {
  const tokens = { terms: { field: 'address.raw', size: MOST } }
  const found = useSearches(network, [
    { kinds: ['event'], body: { query: movementsOf(id), size: 0, aggs: { tokens } } },
  ])
  if (found.error !== undefined)
    return <Fault title="The tokens cannot be read" error={found.error} again={found.again} />
  if (!found.data) return <Busy label="Reading the tokens" />
  const { aggregations } = found.data[0] as SearchAnswer
  const buckets = bucketsOf(aggregations, 'tokens')
  const others = numberAt(at(aggregations, 'tokens'), 'sum_other_doc_count') ?? 0
  if (buckets.length === 0) return <Empty title="The blocks that are held show no token that it got or gave" />
  return (
    <>
      <p class="dim">Tokens that it got or gave in the blocks that are held. What it holds now is not known.</p>
      <ul class="counts">
        {buckets.map(({ key, count }) => (
          <li key={key}>
            <AddressLink network={network} value={key} kind="token" />{' '}
            <span>
              {count.toLocaleString()} {count === 1 ? 'movement' : 'movements'}
            </span>
          </li>
        ))}
      </ul>
      {others > 0 && <p class="dim">And {others.toLocaleString()} movements of other tokens.</p>}
    </>
  )
}
