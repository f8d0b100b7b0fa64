import { useContext } from 'preact/hooks'
import { type JsonObject, textAt } from '../../api/json.ts'
import type { SearchAnswer, SearchHit } from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { Await, Busy, Fault } from '../../parts/answer.tsx'
import { QueryTabs, type Tab } from '../../parts/menu.tsx'
import { dim, Facts, Hash, NetworkContext, RoomContext, say } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import {
  anyOfThese,
  byId,
  countOnly,
  edge,
  hitsOf,
  type MultiSearchItem,
  NEWEST,
  OLDEST,
  term,
  useSearches,
} from './ask.ts'
import { Contract, ContractActivity } from './contract.tsx'
import { OverTime } from './over-time.tsx'
import { Looked, listTab, Missing, ThingHeader, type ThingProps, thingPage } from './page.tsx'
import { isAddress, numberAt, timestampOf } from './read.ts'
import { AddressLink, briefOf, ifPresent, inBlock, movementsOf, optionalText, When } from './values.tsx'

export default thingPage(({ id }) => {
  const isFormed = isAddress(id)
  const found = useSearches(isFormed ? identitySearches(id) : undefined)
  const counting = useSearches(isFormed ? countsOf(id) : undefined)
  if (!isFormed)
    return (
      <Missing
        id={id}
        thing={{
          what: 'address',
          kinds: ['tx', 'event'],
          form: 'An address is 0x and 40 hex digits.',
          isFormed: isAddress,
        }}
      />
    )
  const [creations = [], [token] = []] = (found.data ?? []).map(hitsOf)
  const [contract] = creations
  const name = textAt(contract?._source, 'name') ?? textAt(token?._source, 'name') ?? textAt(token?._source, 'symbol')
  const counts = counting.data && toCounts(counting.data)
  const isSilent = counts && !contract && !token && Object.values(counts).every(it => it === 0)
  const [oldest, newest] = counting.data ?? []
  const facts = {
    Address: <Hash value={textAt(contract?._source, 'address') ?? id} />,
    ...(contract && createdOf(contract, creations.length)),
    Token: token && <TokenLink id={id} token={token._source} />,
    'First transaction': momentOf(oldest),
    'Last transaction': momentOf(newest),
  }
  return (
    <>
      <ThingHeader
        id={id}
        what={found.data === undefined ? 'Address' : contract ? 'Contract' : 'Account'}
        kinds="tx,event,call"
        {...(name && { title: name, name: briefOf(name) })}
      />
      {found.error !== undefined && (
        <Fault title="The contract cannot be read" error={found.error} again={found.again} />
      )}
      <Facts class="thing-facts" of={facts} />
      {!found.data && found.error === undefined && <Busy label="Reading the address" />}
      <Await asked={counting} failed="The counts cannot be read" />
      {isSilent && (
        <section class="missing" aria-label="Nothing found">
          <h2>Nothing is stored of this address</h2>
          <Looked kinds={['tx', 'call', 'event', 'contract', 'token']} />
        </section>
      )}
      {found.data && !isSilent && <QueryTabs label="Of the address" tabs={tabsOf(id, contract, counts)} />}
    </>
  )
})

const identitySearches = (id: string): MultiSearchItem[] => [
  { kinds: ['contract'], body: { query: term('address', id), sort: NEWEST, size: 10 } },
  byId(['token'], id),
]

const parties = (id: string) => anyOfThese(term('from', id), term('to', id))
const creator = (id: string) => anyOfThese(term('creator', id), term('origin', id))

const countsOf = (id: string): MultiSearchItem[] => [
  edge(['tx'], parties(id), OLDEST),
  edge(['tx'], parties(id), NEWEST),
  countOnly(['tx'], term('from', id)),
  countOnly(['tx'], term('to', id)),
  countOnly(['call'], parties(id)),
  countOnly(['event'], term('address', id)),
  countOnly(['event'], movementsOf(id)),
  countOnly(['contract'], creator(id)),
  countOnly(['block'], term('miner', id)),
]

type RelatedCounts = ReturnType<typeof toCounts>

const toCounts = (answers: readonly SearchAnswer[]) => {
  const [, txs = 0, sent = 0, received = 0, calls = 0, events = 0, movements = 0, created = 0, blocks = 0] =
    answers.map(({ hits }) => hits.total)
  return { txs, sent, received, calls, events, movements, created, blocks }
}

const createdOf = ({ _source }: SearchHit, times: number) => ({
  Creator: <AddressLink value={textAt(_source, 'creator')} />,
  'Created in': say`${ifPresent(textAt(_source, 'transactionHash'), it => (
    <RoomContext.Provider value={false}>
      <Hash value={it} kind="tx" />
    </RoomContext.Provider>
  ))} ${inBlock(_source)}${times > 1 && dim` (the latest of ${times} creations)`}`,
  Standard: optionalText(textAt(_source, 'standard')),
  Code: ifPresent(numberAt(_source, 'codeSize'), size => `${size.toLocaleString()} bytes`),
})

const TokenLink = ({ id, token }: ThingProps & { token: JsonObject }) => (
  <>
    <Link to={hrefOf(useContext(NetworkContext), 'token', id) ?? '/'}>
      {briefOf(textAt(token, 'symbol') || textAt(token, 'name') || 'without a name')}
    </Link>{' '}
    <span class="dim">{briefOf(textAt(token, 'standard'))}</span>
  </>
)

const momentOf = (answer: SearchAnswer | undefined) => {
  const [hit] = hitsOf(answer)
  return hit && timestampOf(hit._source) !== undefined && say`${<When hit={hit} />} ${inBlock(hit._source)}`
}

const tabsOf = (id: string, contract: SearchHit | undefined, counts: RelatedCounts | undefined): Tab[] => {
  const [sent, received] = [term('from', id), term('to', id)]
  const sides = (out?: number, into?: number) => [
    { value: '', title: 'In and out', query: parties(id) },
    { value: 'out', title: 'Out', query: sent, count: out },
    { value: 'in', title: 'In', query: received, count: into },
  ]
  return [
    listTab('transactions', counts?.txs, { sides: sides(counts?.sent, counts?.received) }),
    listTab('calls', counts?.calls, { sides: sides() }),
    contract && listTab('events', counts?.events, { query: term('address', id), without: ['Contract'] }),
    listTab('transfers', counts?.movements, { query: movementsOf(id) }),
    { name: 'tokens', title: 'Tokens', show: () => <Tokens id={id} /> },
    contract && { name: 'activity', title: 'Activity', show: () => <ContractActivity id={id} /> },
    counts?.created ? listTab('created', counts.created, { query: creator(id) }) : undefined,
    counts?.blocks ? listTab('blocks', counts.blocks, { query: term('miner', id) }) : undefined,
    contract && { name: 'contract', title: 'Contract', show: () => <Contract id={id} contract={contract._source} /> },
  ].filter(tab => tab !== undefined)
}

const Tokens = ({ id }: ThingProps) => (
  <OverTime
    title="Transfers by token"
    kinds={['event']}
    query={movementsOf(id)}
    by="address.raw"
    note={<p class="dim">Received and sent in the stored blocks. Balances are not known.</p>}
  />
)
