import { type JsonObject, textAt } from '../../api/json.ts'
import type { SearchAnswer } from '../../api/wire.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Tabs } from '../../parts/controls.tsx'
import { Hash, Text, Time } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import { Link, useQueryState } from '../../shell/router.tsx'
import { all, any, byId, hitsOf, type Search, term, useSearches } from './ask.ts'
import { Head, List, Missing, type ThingProps, thingPage, WholeDocument } from './page.tsx'
import { isAddress, numberAt, timeOf, ZERO } from './read.ts'
import {
  AddressLink,
  BlockLink,
  EVENT_FIELDS,
  eventColumns,
  Fact,
  Facts,
  isMovement,
  MOVEMENT_FIELDS,
  movementColumns,
} from './values.tsx'

const Token = ({ network, id }: ThingProps) => {
  const isFormed = isAddress(id)
  const found = useSearches(network, isFormed ? [byId(['token'], id), byId(['contract'], id)] : undefined)
  const counts = useSearches(network, isFormed ? countsOf(id) : undefined)
  const [token, contract] = (found.data ?? []).map(answer => hitsOf(answer)[0])
  if (found.error !== undefined)
    return <Fault title="The token cannot be read" error={found.error} again={found.again} />
  if (isFormed && !found.data) return <Busy label="Reading the token" />
  if (!token)
    return (
      <Missing
        {...{ network, id, isFormed }}
        what="token"
        kinds={['token']}
        form="A token is named by the address of its contract: 0x and 40 hex digits."
      >
        {isFormed && (
          <p>
            A contract is known as a token once an indexed block shows it: by what it emits, or by its code.{' '}
            <Link to={hrefOf(network, 'address', id) ?? '/'}>Go to the address</Link>
          </p>
        )}
      </Missing>
    )
  const name = textAt(token._source, 'symbol') || textAt(token._source, 'name')
  return (
    <>
      <Head
        {...{ network, id }}
        what="Token"
        name={name ? <Text value={name} most={60} brief /> : <Hash value={id} />}
        {...(name && { title: name })}
        kinds="token,contract,event"
      />
      {counts.error !== undefined && (
        <Fault title="The counts cannot be read" error={counts.error} again={counts.again} />
      )}
      <TokenFacts {...{ network, id, source: token._source, contract: contract?._source, counts: counts.data }} />
      <Contents network={network} id={id} counts={counts.data} />
    </>
  )
}

export default thingPage(Token)

const emittedBy = (id: string) => term('address', id)
const movedBy = (id: string) => all(emittedBy(id), isMovement)
/** Movements out of the zero address, or into it: at these places the events have the parties. */
const withZero = (id: string, side: 'from' | 'to') =>
  all(
    emittedBy(id),
    any(
      all(term('event.raw', 'Transfer'), zeroAt(side === 'from' ? 0 : 1)),
      all({ terms: { 'event.raw': ['TransferSingle', 'TransferBatch'] } }, zeroAt(side === 'from' ? 1 : 2)),
    ),
  )

const zeroAt = (place: number) => ({
  nested: { path: 'args', query: all(term('args.pos', place), term('args.value.hex', ZERO)) },
})

const countsOf = (id: string): Search[] => [
  {
    kinds: ['event'],
    body: { query: movedBy(id), size: 1, sort: [{ _shard_doc: 'desc' }], _source: ['timestamp', 'blockNumber'] },
  },
  {
    kinds: ['event'],
    body: { query: movedBy(id), size: 1, sort: [{ _shard_doc: 'asc' }], _source: ['timestamp', 'blockNumber'] },
  },
  { kinds: ['event'], body: { query: emittedBy(id), size: 0 } },
]

interface FactsProps {
  network: string
  id: string
  source: JsonObject
  contract: JsonObject | undefined
  counts: readonly SearchAnswer[] | undefined
}

const TokenFacts = ({ network, id, source, contract, counts }: FactsProps) => {
  const text = (path: string) => textAt(source, path)
  const decimals = numberAt(source, 'decimals')
  const [newest, oldest] = (counts ?? []).map(answer => hitsOf(answer)[0]?._source)
  return (
    <Facts>
      <Fact name="Contract">
        <Hash value={id} kind="address" network={network} />
      </Fact>
      <Fact name="Name">
        <Said text={text('name')} />
      </Fact>
      <Fact name="Symbol">
        <Said text={text('symbol')} />
      </Fact>
      <Fact name="Decimals">
        {decimals === undefined ? <span class="dim">none, or not known</span> : String(decimals)}
      </Fact>
      <Fact name="Standard">{text('standard') && <Text value={text('standard')!} most={60} />}</Fact>
      <Fact name="Created by">{contract && <AddressLink network={network} value={textAt(contract, 'creator')} />}</Fact>
      <Fact name="First seen">
        block <BlockLink network={network} number={numberAt(source, 'firstSeen.num')} />
      </Fact>
      <Fact name="Movements">
        {counts ? counts[0]!.hits.total.toLocaleString() : <span class="dim">counting …</span>}
      </Fact>
      <Fact name="First and last">
        {oldest && newest && (
          <>
            <Time value={timeOf(oldest)!} /> to <Time value={timeOf(newest)!} />
          </>
        )}
      </Fact>
      <Fact name="Answers wrongly">{text('error') && <Text value={text('error')!} />}</Fact>
      <Fact name="Holders">
        <span class="dim">Not known: the index has what was moved, and not what accounts hold.</span>
      </Fact>
    </Facts>
  )
}

const Said = ({ text }: { text: string | undefined }) =>
  text ? <Text value={text} most={120} /> : <span class="dim">not known</span>

const TABS = [
  { name: 'movements', title: 'Movements' },
  { name: 'events', title: 'All events' },
  { name: 'json', title: 'JSON' },
]

const SIDES = [
  { name: '', title: 'All' },
  { name: 'from', title: 'Created' },
  { name: 'to', title: 'Destroyed' },
]

const Contents = ({ network, id, counts }: ThingProps & { counts: readonly SearchAnswer[] | undefined }) => {
  const [tab, setTab] = useQueryState('tab', 'movements')
  const [side, setSide] = useQueryState('side')
  const totals = [counts?.[0]?.hits.total, counts?.[2]?.hits.total]
  const tabs = TABS.map(({ name, title }, i) => ({
    name,
    title: totals[i] === undefined ? title : `${title} (${totals[i].toLocaleString()})`,
  }))
  const current = tabs.some(({ name }) => name === tab) ? tab : 'movements'
  return (
    <Tabs label="Of the token" tabs={tabs} current={current} onChange={name => setTab(name, { replace: true })}>
      {current === 'movements' && (
        <>
          <label class="choose">
            Show{' '}
            <select value={side} onChange={event => setSide(event.currentTarget.value, { replace: true })}>
              {SIDES.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <List
            key={`movements ${side}`}
            network={network}
            label="Movements"
            kinds={['event']}
            query={side === 'from' || side === 'to' ? withZero(id, side) : movedBy(id)}
            columns={movementColumns(network, { token: false })}
            fields={MOVEMENT_FIELDS}
            none={<p>The blocks that are held show no such movement of the token.</p>}
          />
        </>
      )}
      {current === 'events' && (
        <List
          key="events"
          network={network}
          label="Events"
          kinds={['event']}
          query={emittedBy(id)}
          columns={eventColumns(network).filter(({ name }) => name !== 'address')}
          fields={EVENT_FIELDS}
          none={<Empty title="The token emitted nothing in the blocks that are held" />}
        />
      )}
      {current === 'json' && <WholeDocument network={network} kind="token" id={id.toLowerCase()} />}
    </Tabs>
  )
}
