import { useState } from 'preact/hooks'
import { useAsk } from '../../api/ask.ts'
import { getDocument } from '../../api/index.ts'
import { at, type JsonObject, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Tabs } from '../../parts/controls.tsx'
import { Amount, Copy, Hash, Text, Time } from '../../parts/text.tsx'
import { useQueryState } from '../../shell/router.tsx'
import { all, byId, hitsOf, OLDEST, type Search, term, useSearches } from './ask.ts'
import { Head, Missing, Neighbours, type ThingProps, thingPage, WholeDocument } from './page.tsx'
import { isHash, listAt, moves, numberAt, type Step, stepsOf, timeOf, unitsAt, wordsOf } from './read.ts'
import {
  AddressLink,
  Args,
  BlockLink,
  Coins,
  Fact,
  Facts,
  Gwei,
  Moved,
  type Movement,
  movementOf,
  Party,
  Raw,
} from './values.tsx'

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

export const TxFacts = ({ network, source }: { network: string; source: JsonObject }) => {
  const text = (path: string) => textAt(source, path)
  const time = timeOf(source)
  const created = text('contractAddress')
  return (
    <Facts>
      <Fact name="Result">
        <Result network={network} source={source} />
      </Fact>
      <Fact name="Hash">
        <Hash value={text('hash') ?? ''} />
      </Fact>
      <Fact name="Block">
        <BlockLink network={network} number={numberAt(source, 'blockNumber.num')} />
        <span class="dim">, place {numberAt(source, 'transactionIndex.num')}</span>
      </Fact>
      <Fact name="Time">{time !== undefined && <Time value={time} />}</Fact>
      <Fact name="From">
        <AddressLink network={network} value={text('from')} />{' '}
        <span class="dim">nonce {numberAt(source, 'nonce.num')}</span>
      </Fact>
      <Fact name="To">
        {text('to') !== undefined ? (
          <AddressLink network={network} value={text('to')} />
        ) : (
          <>
            <span class="dim">a new contract </span>
            {created && <AddressLink network={network} value={created} />}
          </>
        )}
      </Fact>
      <Fact name="Function">{text('method') && <Text value={text('method')!} most={120} />}</Fact>
      <Fact name="Value">
        <Coins network={network} value={unitsAt(source, 'value') ?? 0n} />
      </Fact>
      <Fees network={network} source={source} />
      <Fact name="Access list">{countOf(source, 'accessList', 'entries')}</Fact>
      <Fact name="Blobs">{countOf(source, 'blobVersionedHashes', 'blobs')}</Fact>
      <Fact name="Accounts that set their code">
        {listAt(source, 'authorizationList').length > 0 && <Authorizations network={network} source={source} />}
      </Fact>
    </Facts>
  )
}

const countOf = (source: JsonObject, path: string, what: string) => {
  const { length } = listAt(source, path)
  return length > 0 && `${length.toLocaleString()} ${what}`
}

const Result = ({ network, source }: { network: string; source: JsonObject }) => {
  const status = at(source, 'status')
  if (status !== false) return status === true ? <span class="good">Succeeded</span> : <span class="dim">Not told</span>
  const [error, address] = [textAt(source, 'error'), textAt(source, 'revertAddress')]
  return (
    <span class="bad">
      <strong>Failed</strong>
      {error && (
        <>
          : <Text value={error} />
        </>
      )}
      {address && (
        <>
          {' '}
          in <AddressLink network={network} value={address} />
        </>
      )}
    </span>
  )
}

const Authorizations = ({ network, source }: { network: string; source: JsonObject }) => (
  <ul class="plain">
    {listAt(source, 'authorizationList').map((it, i) => (
      <li key={i}>
        to that of <AddressLink network={network} value={textAt(it, 'address')} />
      </li>
    ))}
  </ul>
)

const Fees = ({ network, source }: { network: string; source: JsonObject }) => {
  const units = (path: string) => unitsAt(source, path)
  const [used, limit] = [units('gasUsed'), units('gas')]
  const paid = units('effectiveGasPrice') ?? units('gasPrice')
  const most = units('maxFeePerGas')
  const tip = units('maxPriorityFeePerGas')
  return (
    <>
      <Fact name="Fee">
        {used !== undefined && paid !== undefined && <Coins network={network} value={used * paid} />}
      </Fact>
      <Fact name="Gas">
        {used !== undefined && (
          <>
            <Amount value={used} />
            {limit !== undefined && (
              <span class="dim">
                {' '}
                of <Amount value={limit} />
              </span>
            )}
          </>
        )}
      </Fact>
      <Fact name="Gas price">
        {paid !== undefined && (
          <>
            <Gwei value={paid} />
            {most !== undefined && (
              <span class="dim">
                {' '}
                at most <Gwei value={most} />
                {tip !== undefined && (
                  <>
                    , to the builder at most <Gwei value={tip} />
                  </>
                )}
              </span>
            )}
          </>
        )}
      </Fact>
      <Fact name="Type">{TYPES[numberAt(source, 'type.num') ?? -1] ?? numberAt(source, 'type.num')}</Fact>
    </>
  )
}

const TYPES: Record<number, string> = {
  0: '0, legacy',
  1: '1, with an access list (EIP-2930)',
  2: '2, with a priority fee (EIP-1559)',
  3: '3, with blobs (EIP-4844)',
  4: '4, sets code (EIP-7702)',
}

interface StepsProps {
  network: string
  steps: readonly Step[]
  /** Where the failure of the transaction began. */
  began: readonly number[] | undefined
}

const DEEPEST = 16

/** What the transaction called, step by step. */
export const StepsView = ({ network, steps, began }: StepsProps) => (
  <ol class="steps" aria-label="Steps">
    {steps.map(step => (
      <StepView
        key={step.path.join()}
        network={network}
        step={step}
        isBeginning={step.error !== undefined && began !== undefined && began.join() === step.path.join()}
      />
    ))}
  </ol>
)

const StepView = ({ network, step, isBeginning }: { network: string; step: Step; isBeginning: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  const { path, type, from, to, value, method, selector, args, gasUsed, error, isUndone } = step
  const depth = Math.min(path.length, DEEPEST)
  return (
    <li class={error !== undefined ? 'failed' : isUndone ? 'undone' : undefined} style={{ '--depth': depth }}>
      <div class="step">
        <code class="dim">{path.length === 0 ? '·' : path.join('.')}</code>{' '}
        <span class="kind">{NAMES[type] ?? type}</span>{' '}
        <span class="way">
          <AddressLink network={network} value={from} brief /> → <AddressLink network={network} value={to} />
        </span>{' '}
        {type !== 'create' && type !== 'suicide' && <Called method={method} selector={selector} />}
        {value !== undefined && value > 0n && <Coins network={network} value={value} />}
        {gasUsed !== undefined && <span class="dim"> {gasUsed.toLocaleString()} gas</span>}
      </div>
      {error !== undefined && (
        <p class="bad">
          <strong>{isBeginning ? 'Failed, and the failure began here' : 'Failed'}</strong> · <Text value={error} />
        </p>
      )}
      {error === undefined && isUndone && <p class="dim">Undone: a step above it failed.</p>}
      <Args network={network} args={args} />
      {step.traceId !== undefined && (
        <details onToggle={event => setOpen(event.currentTarget.open)}>
          <summary>Input and output</summary>
          {isOpen && <InAndOut network={network} id={step.traceId} />}
        </details>
      )}
    </li>
  )
}

const NAMES: Record<string, string> = { suicide: 'self-destruction', create: 'creation' }

const Called = ({ method, selector }: { method: string | undefined; selector: string | undefined }) => {
  if (method === undefined && selector === undefined) return <span class="dim">without a function </span>
  return (
    <strong>
      <Text value={method ?? selector!} most={80} brief />{' '}
    </strong>
  )
}

/** Raw bytes of a step, which are asked for once they are wanted. */
const InAndOut = ({ network, id }: { network: string; id: string }) => {
  const { data, error, again } = useAsk(`${network} trace ${id}`, signal => getDocument(network, 'trace', id, signal))
  if (error !== undefined) return <Fault error={error} again={again} />
  if (!data) return <Busy label="Reading the step" />
  const part = (name: string, path: string) => {
    const hex = textAt(data._source, path)
    return hex === undefined ? null : (
      <div>
        <dt>{name}</dt>
        <dd>
          <Raw hex={hex} most={512} />
        </dd>
      </div>
    )
  }
  return (
    <dl class="args">
      {part('Input', 'action.input')}
      {part('Initialisation code', 'action.init')}
      {part('Output', 'result.output')}
      {part('Code', 'result.code')}
    </dl>
  )
}

/** A log, and the event that it was decoded to. */
export interface Emitted {
  place: number
  log: Hit | undefined
  event: Hit | undefined
}

export const emittedOf = (events: readonly Hit[], logs: readonly Hit[]): Emitted[] => {
  const places = new Map<number, Emitted>()
  for (const hit of [...logs, ...events]) {
    const place = numberAt(hit._source, 'logIndex.num') ?? 0
    const before = places.get(place) ?? { place, log: undefined, event: undefined }
    places.set(place, hit._type === 'log' ? { ...before, log: hit } : { ...before, event: hit })
  }
  return [...places.values()].sort((a, b) => a.place - b.place)
}

export const EventsView = ({ network, emitted }: { network: string; emitted: readonly Emitted[] }) => (
  <ol class="steps" aria-label="Events">
    {emitted.map(({ place, log, event }) => (
      <li key={place}>
        <div class="step">
          <code class="dim">{place}</code>{' '}
          <strong>
            {event ? (
              <Text value={textAt(event._source, 'event') ?? '?'} most={80} brief />
            ) : (
              'A log that is not decoded'
            )}
          </strong>{' '}
          <span class="dim">by</span>{' '}
          <AddressLink network={network} value={textAt((event ?? log)!._source, 'address')} />{' '}
          <Certainty event={event} />
        </div>
        {event && <Args network={network} args={listAt(event._source, 'args')} />}
        {log && (
          <details open={!event}>
            <summary>Topics and data</summary>
            <dl class="args">
              {listAt(log._source, 'topics').map((topic, i) => (
                <div key={i}>
                  <dt>Topic {i}</dt>
                  <dd>
                    <Raw hex={String(topic)} />
                  </dd>
                </div>
              ))}
              <div>
                <dt>Data</dt>
                <dd>
                  <Raw hex={textAt(log._source, 'data') ?? '0x'} most={512} />
                </dd>
              </div>
            </dl>
          </details>
        )}
      </li>
    ))}
  </ol>
)

const Certainty = ({ event }: { event: Hit | undefined }) => {
  const error = textAt(event?._source, 'error')
  const probability = numberAt(event?._source, 'probability')
  return (
    <>
      {error !== undefined && (
        <span class="bad">
          <Text value={error} />
        </span>
      )}
      {probability !== undefined && probability < 0.9 && (
        <span class="dim">decoded by a guess, {Math.round(probability * 100)} % sure</span>
      )}
    </>
  )
}

/** Words that are drawn; the rest is in the raw bytes. */
const MOST_WORDS = 128

/** The call data of a transaction, decoded and raw. */
export const InputView = ({ network, tx, call }: { network: string; tx: JsonObject; call: Step | undefined }) => {
  const input = textAt(tx, 'input') ?? '0x'
  if (input === '0x') return <Empty title="The transaction has no input" />
  const isCreation = textAt(tx, 'to') === undefined
  const bytes = (input.length - 2) / 2
  return (
    <>
      {isCreation && <p>Initialisation code of a new contract.</p>}
      {!isCreation && (
        <section aria-label="Decoded">
          <h2>Decoded</h2>
          {call?.method === undefined ? (
            <p class="dim">
              No function is known by the selector <code>{input.slice(0, 10)}</code>.
            </p>
          ) : (
            <p>
              <strong>
                <Text value={call.method} most={120} />
              </strong>{' '}
              <code class="dim">{call.selector}</code>
            </p>
          )}
          {call && <Args network={network} args={call.args} />}
        </section>
      )}
      <section aria-label="Raw">
        <h2>
          Raw, {bytes.toLocaleString()} bytes <Copy text={input} what="the input" />
        </h2>
        {isCreation || bytes < 4 ? <Raw hex={input} most={2_000} /> : <Words input={input} />}
      </section>
    </>
  )
}

const Words = ({ input }: { input: string }) => {
  const words = wordsOf(input, 4)
  return (
    <>
      <ol class="words" start={0}>
        {words.slice(0, MOST_WORDS).map((word, i) => (
          <li key={i}>
            <code>{word}</code>
          </li>
        ))}
      </ol>
      {words.length > MOST_WORDS && <Raw hex={input} />}
    </>
  )
}

interface MovedProps {
  network: string
  coins: readonly Step[]
  movements: readonly Movement[]
}

/** What a transaction moved: coins of the chain, then tokens. */
export const MovedView = ({ network, coins, movements }: MovedProps) =>
  coins.length + movements.length === 0 ? (
    <Empty title="It moved no coins and no tokens" />
  ) : (
    <ol class="steps" aria-label="Movements">
      {coins.map(({ path, from, to, value }) => (
        <li key={`coin ${path}`}>
          <div class="step">
            <Coins network={network} value={value!} />
          </div>
          <div class="way">
            <AddressLink network={network} value={from} /> → <AddressLink network={network} value={to} />
          </div>
        </li>
      ))}
      {movements.map((movement, i) => (
        <li key={i}>
          <div class="step">
            <Moved network={network} movement={movement} />{' '}
            <span class="dim">
              of <AddressLink network={network} value={movement.token} kind="token" />
            </span>
          </div>
          <div class="way">
            <Party network={network} value={movement.from} zero="created" /> →{' '}
            <Party network={network} value={movement.to} zero="destroyed" />
          </div>
        </li>
      ))}
    </ol>
  )
