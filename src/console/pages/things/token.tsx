import { useContext } from 'preact/hooks'
import { textAt } from '../../api/json.ts'
import type { SearchAnswer } from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { Fault } from '../../parts/answer.tsx'
import { QueryTabs } from '../../parts/menu.tsx'
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
import { documentPage, List, SidedList, ThingHeader, titleWithCount, WholeDocument } from './page.tsx'
import { isAddress, numberAt, ZERO_ADDRESS } from './read.ts'
import { AddressLink, BlockLink, briefOf, MOVING, optionalText, When } from './values.tsx'

export default documentPage(
  {
    what: 'token',
    kinds: ['token'],
    form: 'A token is named by the address of its contract: 0x and 40 hex digits.',
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
      'Created by': contract && <AddressLink value={textAt(contract._source, 'creator')} />,
      'First seen': say`block ${<BlockLink number={numberAt(source, 'firstSeen.num')} />}`,
      Movements: data ? data[0]!.hits.total.toLocaleString() : <span class="dim">counting …</span>,
      'First and last': oldest && newest && say`${<When hit={oldest} />} to ${<When hit={newest} />}`,
      'Answers wrongly': optionalText(text('error'), 200),
      Holders: <span class="dim">Not known: the index has what was moved, and not what accounts hold.</span>,
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
        <QueryTabs label="Of the token" tabs={tokenTabs(id, data)} />
      </>
    )
  },
)

const emittedBy = (id: string) => term('address', id)
const movedBy = (id: string) => allOf(emittedBy(id), MOVING)

/** Movements from or to the zero address, by argument position. */
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

const tokenTabs = (id: string, counts: readonly SearchAnswer[] | undefined) => {
  const sides = [
    { value: '', title: 'All', query: movedBy(id) },
    { value: 'from', title: 'Created', query: withZero(id, 0) },
    { value: 'to', title: 'Destroyed', query: withZero(id, 1) },
  ]
  const [none, nothing] = ['The stored blocks show no such transfer of the token.', NO_EVENTS]
  return [
    {
      name: 'movements',
      title: titleWithCount('Movements', counts?.[0]?.hits.total),
      show: () => <SidedList of="movements" sides={sides} without={['Token']} none={none} />,
    },
    {
      name: 'events',
      title: titleWithCount('All events', counts?.[2]?.hits.total),
      show: () => <List of="events" query={emittedBy(id)} without={['Contract']} none={nothing} />,
    },
    { name: 'json', title: 'JSON', show: () => <WholeDocument kind="token" id={id.toLowerCase()} /> },
  ]
}

const NO_EVENTS = 'The token emitted nothing in the stored blocks'
