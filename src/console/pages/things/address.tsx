import type { JsonObject } from '../../api/json.ts'
import { textAt } from '../../api/json.ts'
import type { Hit, SearchAnswer } from '../../api/wire.ts'
import { Fault } from '../../parts/fault.tsx'
import { Hash } from '../../parts/hash.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../shell/router.tsx'
import { hrefOf } from '../../things.ts'
import { AddressLink } from './address-link.tsx'
import { AddressTabs, type Counts } from './address-tabs.tsx'
import { any, byId, count, hitsOf, NEWEST, OLDEST, type Search, term, useSearches } from './ask.ts'
import { BlockLink } from './columns.tsx'
import { Fact, Facts } from './facts.tsx'
import { Looked, Missing } from './missing.tsx'
import { movementsOf } from './movements.tsx'
import { Head, type ThingProps, thingPage } from './page.tsx'
import { isAddress, numberAt, timeOf } from './read.ts'

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
