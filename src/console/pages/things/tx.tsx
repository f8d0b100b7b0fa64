import { useState } from 'preact/hooks'
import type { JsonObject } from '../../api/json.ts'
import { at, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useQueryState } from '../../shell/router.tsx'
import { all, byId, hitsOf, OLDEST, type Search, term, useSearches } from './ask.ts'
import { WholeDocument } from './document.tsx'
import { EventsView, emittedOf } from './events-view.tsx'
import { InputView } from './input-view.tsx'
import { Missing } from './missing.tsx'
import { MovedView } from './moved-view.tsx'
import { movementOf } from './movements.tsx'
import { Head, Neighbours, type ThingProps, thingPage } from './page.tsx'
import { isHash, listAt, numberAt } from './read.ts'
import { moves, stepsOf } from './steps.ts'
import { StepsView } from './steps-view.tsx'
import { TxFacts } from './tx-facts.tsx'

const Transaction = ({ network, id }: ThingProps) => {
  const isFormed = isHash(id)
  const found = useSearches(
    network,
    isFormed ? [byId(['tx'], id, { _source: { excludes: ['logsBloom'] } })] : undefined,
  )
  const tx = hitsOf(found.data?.[0])[0]
  const around = useSearches(network, tx && aroundOf(tx._source))
  if (found.error !== undefined)
    return <Fault title="The transaction cannot be read" error={found.error} again={found.again} />
  if (isFormed && !found.data) return <Busy label="Reading the transaction" />
  if (!tx)
    return (
      <Missing
        {...{ network, id, isFormed }}
        what="transaction"
        kinds={['tx']}
        form="A transaction is named by its hash: 0x and 64 hex digits."
      />
    )
  const [index, nonce] = placesOf(tx._source)
  const [beside = [], ofSender = []] = (around.data ?? []).map(hitsOf)
  return (
    <>
      <Head network={network} id={tx._id} what="Transaction" kinds="tx,event,call,trace">
        <Neighbours
          network={network}
          kind="tx"
          what="in the block"
          previous={idAt(beside, 'transactionIndex.num', index - 1)}
          next={idAt(beside, 'transactionIndex.num', index + 1)}
          keys={['[', ']']}
        />
        <Neighbours
          network={network}
          kind="tx"
          what="of the sender"
          previous={idAt(ofSender, 'nonce.num', nonce - 1)}
          next={idAt(ofSender, 'nonce.num', nonce + 1)}
          keys={['{', '}']}
        />
      </Head>
      <TxFacts network={network} source={tx._source} />
      <Contents network={network} tx={tx} />
    </>
  )
}

export default thingPage(Transaction)

const placesOf = (source: JsonObject) =>
  [numberAt(source, 'transactionIndex.num') ?? 0, numberAt(source, 'nonce.num') ?? 0] as const

const idAt = (hits: readonly Hit[], path: string, place: number): string | undefined =>
  hits.find(hit => numberAt(hit._source, path) === place)?._id

/** Neighbours in the block, and those that the sender sent before and after. */
const aroundOf = (source: JsonObject): Search[] => {
  const [index, nonce] = placesOf(source)
  const beside = (place: number) => [place - 1, place + 1].filter(it => it >= 0)
  const inBlock = term('blockNumber.num', numberAt(source, 'blockNumber.num') ?? 0)
  const bySender = term('from', textAt(source, 'from') ?? '')
  return [
    {
      kinds: ['tx'],
      body: {
        query: all(inBlock, { terms: { 'transactionIndex.num': beside(index) } }),
        _source: ['transactionIndex'],
      },
    },
    { kinds: ['tx'], body: { query: all(bySender, { terms: { 'nonce.num': beside(nonce) } }), _source: ['nonce'] } },
  ]
}

const FIRST_MOST = 250
const GREATEST_MOST = 10_000

/** What happened in it, at most so many of each kind. */
const insideOf = (id: string, most: number): Search[] => {
  const body = { query: term('transactionHash', id), size: most, sort: OLDEST }
  const bulk = ['action.input', 'action.init', 'result.output', 'result.code']
  return [
    { kinds: ['trace'], body: { ...body, _source: { excludes: bulk } } },
    { kinds: ['call'], body },
    { kinds: ['event'], body },
    { kinds: ['log'], body },
  ]
}

const Contents = ({ network, tx }: { network: string; tx: Hit }) => {
  const [tab, setTab] = useQueryState('tab', 'steps')
  const [most, setMost] = useState(FIRST_MOST)
  const inside = useSearches(network, insideOf(tx._id, most))
  const [traces = [], calls = [], events = [], logs = []] = (inside.data ?? []).map(hitsOf)
  const totals = (inside.data ?? []).map(({ hits }) => hits.total)
  const steps = stepsOf(tx._source, traces, calls)
  const movements = events.flatMap(hit => movementOf(hit) ?? [])
  const coins = steps.filter(moves)
  const isCut = totals.some(total => total > most)
  const told = (title: string, ...counts: (number | undefined)[]) =>
    inside.data
      ? `${title} (${Math.max(...counts.map(it => it ?? 0)).toLocaleString()}${isCut ? ' and more' : ''})`
      : title
  const tabs = [
    { name: 'steps', title: told('Steps', steps.length) },
    { name: 'events', title: told('Events', events.length, logs.length) },
    { name: 'movements', title: told('Movements', movements.length + coins.length) },
    { name: 'input', title: 'Input' },
    { name: 'json', title: 'JSON' },
  ]
  const current = tabs.some(({ name }) => name === tab) ? tab : 'steps'
  return (
    <>
      {inside.error !== undefined && (
        <Fault title="What happened in it cannot be read" error={inside.error} again={inside.again} />
      )}
      {isCut && most < GREATEST_MOST && (
        <p>
          It did much: the first {most.toLocaleString()} of each kind are shown.{' '}
          <button type="button" class="link" onClick={() => setMost(Math.min(most * 8, GREATEST_MOST))}>
            Read more of it
          </button>
        </p>
      )}
      {isCut && most >= GREATEST_MOST && <p>The first {most.toLocaleString()} of each kind are shown.</p>}
      <Tabs label="What happened" tabs={tabs} current={current} onChange={name => setTab(name, { replace: true })}>
        {current === 'json' && <WholeDocument network={network} kind="tx" id={tx._id} />}
        {current === 'input' && (
          <InputView network={network} tx={tx._source} call={steps.find(({ path }) => path.length === 0)} />
        )}
        {!['json', 'input'].includes(current) && !inside.data && inside.error === undefined && (
          <Busy label="Reading what happened" />
        )}
        {inside.data && current === 'steps' && (
          <>
            {traces.length === 0 && calls.length < 2 && (
              <p class="dim">Steps inside are known where blocks are indexed with traces.</p>
            )}
            <StepsView network={network} steps={steps} began={beganAt(tx._source)} />
          </>
        )}
        {inside.data && current === 'events' && <Events {...{ network, events, logs }} />}
        {inside.data && current === 'movements' && <MovedView {...{ network, coins, movements }} />}
      </Tabs>
    </>
  )
}

const Events = ({ network, events, logs }: { network: string; events: readonly Hit[]; logs: readonly Hit[] }) => {
  const emitted = emittedOf(events, logs)
  return emitted.length === 0 ? (
    <Empty title="It emitted nothing" />
  ) : (
    <EventsView network={network} emitted={emitted} />
  )
}

const beganAt = (source: JsonObject): readonly number[] | undefined =>
  Array.isArray(at(source, 'revertTrace')) ? listAt(source, 'revertTrace').map(Number) : undefined
