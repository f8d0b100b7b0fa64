import { useContext } from 'preact/hooks'
import { textAt } from '../../api/json.ts'
import type { SearchAnswer } from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { Fault } from '../../parts/answer.tsx'
import { QueryTabs } from '../../parts/controls.tsx'
import { Facts, Hash, Network, say } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import { all, any, byId, count, edge, hitsOf, NEWEST, OLDEST, type Search, term, useSearches } from './ask.ts'
import { counted, documentPage, Head, List, SidedList, WholeDocument } from './page.tsx'
import { isAddress, numberAt, ZERO } from './read.ts'
import { Address, BlockLink, briefOf, MOVING, textOf, When } from './values.tsx'

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
        <Link to={hrefOf(useContext(Network), 'address', id) ?? '/'}>Go to the address</Link>
      </p>
    ),
  },
  ({ id, hit: { _source: source }, answers }) => {
    const [contract] = hitsOf(answers[1])
    const { data, error, again } = useSearches(countsOf(id))
    const [newest, oldest] = (data ?? []).map(answer => hitsOf(answer)[0])
    const text = (path: string) => textAt(source, path)
    const said = (path: string) => textOf(text(path), 120) ?? <span class="dim">not known</span>
    const name = text('symbol') || text('name')
    const facts = {
      Contract: <Hash value={id} kind="address" />,
      Name: said('name'),
      Symbol: said('symbol'),
      Decimals: String(numberAt(source, 'decimals') ?? '') || <span class="dim">none, or not known</span>,
      Standard: textOf(text('standard')),
      'Created by': contract && <Address value={textAt(contract._source, 'creator')} />,
      'First seen': say`block ${<BlockLink number={numberAt(source, 'firstSeen.num')} />}`,
      Movements: data ? data[0]!.hits.total.toLocaleString() : <span class="dim">counting …</span>,
      'First and last': oldest && newest && say`${<When hit={oldest} />} to ${<When hit={newest} />}`,
      'Answers wrongly': textOf(text('error'), 200),
      Holders: <span class="dim">Not known: the index has what was moved, and not what accounts hold.</span>,
    }
    return (
      <>
        <Head
          id={id}
          what="Token"
          name={name ? briefOf(name) : undefined}
          title={name || undefined}
          kinds="token,contract,event"
        />
        {error !== undefined && <Fault title="The counts cannot be read" error={error} again={again} />}
        <Facts class="thing-facts" of={facts} />
        <QueryTabs label="Of the token" tabs={tabsOf(id, data)} />
      </>
    )
  },
)

const emittedBy = (id: string) => term('address', id)
const movedBy = (id: string) => all(emittedBy(id), MOVING)

/** Movements out of the zero address, or into it: at these places the events have the parties. */
const withZero = (id: string, place: 0 | 1) =>
  all(
    emittedBy(id),
    any(
      all(term('event.raw', 'Transfer'), zeroAt(place)),
      all({ terms: { 'event.raw': ['TransferSingle', 'TransferBatch'] } }, zeroAt(place + 1)),
    ),
  )

const zeroAt = (place: number) => ({
  nested: { path: 'args', query: all(term('args.pos', place), term('args.value.hex', ZERO)) },
})

const countsOf = (id: string): Search[] => [
  edge(['event'], movedBy(id), NEWEST),
  edge(['event'], movedBy(id), OLDEST),
  count(['event'], emittedBy(id)),
]

const tabsOf = (id: string, counts: readonly SearchAnswer[] | undefined) => {
  const sides = [
    { value: '', title: 'All', query: movedBy(id) },
    { value: 'from', title: 'Created', query: withZero(id, 0) },
    { value: 'to', title: 'Destroyed', query: withZero(id, 1) },
  ]
  const [none, nothing] = ['The blocks that are held show no such movement of the token.', NOTHING]
  return [
    {
      name: 'movements',
      title: counted('Movements', counts?.[0]?.hits.total),
      show: () => <SidedList of="movements" sides={sides} without={['Token']} none={none} />,
    },
    {
      name: 'events',
      title: counted('All events', counts?.[2]?.hits.total),
      show: () => <List of="events" query={emittedBy(id)} without={['Contract']} none={nothing} />,
    },
    { name: 'json', title: 'JSON', show: () => <WholeDocument kind="token" id={id.toLowerCase()} /> },
  ]
}

const NOTHING = 'The token emitted nothing in the blocks that are held'
