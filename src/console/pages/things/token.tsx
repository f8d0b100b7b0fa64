import { useContext } from 'preact/hooks'
import { type JsonObject, textAt } from '../../api/json.ts'
import type { SearchAnswer } from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { Fault } from '../../parts/answer.tsx'
import { QueryTabs, type Tab } from '../../parts/menu.tsx'
import { Facts, Hash, NetworkContext, say } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import {
  allOf,
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
import { OverTime } from './over-time.tsx'
import { documentPage, jsonTab, listTab, ThingHeader } from './page.tsx'
import { isAddress, numberAt, ZERO_ADDRESS } from './read.ts'
import { AddressLink, BlockLink, briefOf, MOVING, optionalText, When } from './values.tsx'

export default documentPage(
  {
    what: 'token',
    kinds: ['token'],
    form: 'The address of a token is 0x and 40 hex digits.',
    isFormed: isAddress,
    ask: id => [byId(['token'], id), byId(['contract'], id)],
    elsewhere: ({ id }) => (
      <p>
        A contract is known as a token once an indexed block shows it: by what it emits, or by its code.{' '}
        <Link to={hrefOf(useContext(NetworkContext), 'address', id) ?? '/'}>Go to the address</Link>
      </p>
    ),
  },
  ({ id, hit: { _source: source }, answers }) => {
    const [contract] = hitsOf(answers[1])
    const { data, error, again } = useSearches(tokenSearches(id))
    const [newest, oldest] = (data ?? []).map(answer => hitsOf(answer)[0])
    const text = (path: string) => textAt(source, path)
    const said = (path: string) => optionalText(text(path), 120) ?? <span class="dim">not known</span>
    const name = text('symbol') || text('name')
    const facts = {
      Contract: <Hash value={id} kind="address" />,
      Name: said('name'),
      Symbol: said('symbol'),
      Decimals: String(numberAt(source, 'decimals') ?? '') || <span class="dim">none, or not known</span>,
      Standard: optionalText(text('standard')),
      Creator: contract && <AddressLink value={textAt(contract._source, 'creator')} />,
      'First seen': say`block ${<BlockLink number={numberAt(source, 'firstSeen.num')} />}`,
      Transfers: data ? data[0]!.hits.total.toLocaleString() : <span class="dim">counting …</span>,
      'First and last': oldest && newest && say`${<When hit={oldest} />} to ${<When hit={newest} />}`,
      'Errors of its answers': optionalText(text('error'), 200),
      Holders: <span class="dim">Not known: transfers are indexed, and balances are not.</span>,
    }
    return (
      <>
        <ThingHeader
          id={id}
          what="Token"
          name={name ? briefOf(name) : undefined}
          title={name || undefined}
          kinds="token,contract,event"
        />
        {error !== undefined && <Fault title="The counts cannot be read" error={error} again={again} />}
        <Facts class="thing-facts" of={facts} />
        <QueryTabs label="Of the token" tabs={tokenTabs(id, source, data)} />
      </>
    )
  },
)

const emittedBy = (id: string) => term('address', id)
const movedBy = (id: string) => allOf(emittedBy(id), MOVING)

/** Transfers from or to the zero address, by argument position. */
const withZero = (id: string, place: 0 | 1) =>
  allOf(
    emittedBy(id),
    anyOfThese(
      allOf(term('event.raw', 'Transfer'), zeroAt(place)),
      allOf({ terms: { 'event.raw': ['TransferSingle', 'TransferBatch'] } }, zeroAt(place + 1)),
    ),
  )

const zeroAt = (place: number) => ({
  nested: { path: 'args', query: allOf(term('args.pos', place), term('args.value.hex', ZERO_ADDRESS)) },
})

const tokenSearches = (id: string): MultiSearchItem[] => [
  edge(['event'], movedBy(id), NEWEST),
  edge(['event'], movedBy(id), OLDEST),
  countOnly(['event'], emittedBy(id)),
]

const tokenTabs = (id: string, token: JsonObject, counts: readonly SearchAnswer[] | undefined): Tab[] => {
  const sides = [
    { value: '', title: 'All', query: movedBy(id) },
    ...(numberAt(token, 'decimals') === undefined
      ? []
      : [{ value: 'largest', title: 'Largest first', query: movedBy(id), sort: LARGEST }]),
    { value: 'from', title: 'Minted', query: withZero(id, 0) },
    { value: 'to', title: 'Burned', query: withZero(id, 1) },
  ]
  const [transfers, , events] = (counts ?? []).map(({ hits }) => hits.total)
  return [
    listTab('transfers', transfers, { sides, without: ['Token'] }),
    { name: 'activity', title: 'Activity', show: () => <TokenActivity id={id} token={token} /> },
    listTab('events', events, { label: 'All events', query: emittedBy(id), without: ['Contract'] }),
    jsonTab('token', id.toLowerCase()),
  ]
}

const TokenActivity = ({ id, token }: { id: string; token: JsonObject }) => (
  <div class="dashboard">
    <OverTime title="Transfers" kinds={['event']} query={movedBy(id)} />
    {numberAt(token, 'decimals') !== undefined && (
      <OverTime
        title="Volume in units of the token"
        kinds={['event']}
        query={allOf(emittedBy(id), term('event.raw', 'Transfer'))}
        measure={VOLUME}
      />
    )}
  </div>
)

/** By the last argument of Transfer. */
const LARGEST = [
  { 'args.value.scaled': { order: 'desc', nested: { path: 'args', filter: term('args.pos', 2) } } },
  ...NEWEST,
]

/** Sum of the last argument of Transfer. */
const VOLUME = {
  at: 'args.moved.sum.value',
  aggs: {
    args: {
      nested: { path: 'args' },
      aggs: { moved: { filter: term('args.pos', 2), aggs: { sum: { sum: { field: 'args.value.scaled' } } } } },
    },
  },
}
