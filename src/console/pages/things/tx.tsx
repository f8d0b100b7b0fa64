import { useContext, useState } from 'preact/hooks'
import { useGet } from '../../api/ask.ts'
import { documentPath } from '../../api/client.ts'
import { type JsonObject, listAt, textAt, valueAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import { Await, Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Button } from '../../parts/controls.tsx'
import { QueryTabs } from '../../parts/menu.tsx'
import { Amount, Coins, Copy, dim, Facts, NetworkContext, say, Text } from '../../parts/text.tsx'
import { allOf, byId, hitsOf, type MultiSearchItem, OLDEST, term, useSearches } from './ask.ts'
import { documentPage, Neighbours, ThingHeader, WholeDocument } from './page.tsx'
import {
  type ExecutionStep,
  hexWords,
  isHashText,
  type Movement,
  movementOf,
  moves,
  numberAt,
  stepsOf,
  unitsAt,
} from './read.ts'
import {
  AddressLink,
  Args,
  BlockLink,
  briefOf,
  Gwei,
  ifPresent,
  MovementAmount,
  NamedValues,
  optionalText,
  Party,
  RawBytes,
  When,
} from './values.tsx'

export default documentPage(
  {
    what: 'transaction',
    kinds: ['tx'],
    form: 'A transaction is named by its hash: 0x and 64 hex digits.',
    isFormed: isHashText,
    ask: id => [byId(['tx'], id, { _source: { excludes: ['logsBloom'] } })],
  },
  ({ hit: tx }) => {
    const around = useSearches(txNeighbours(tx._source))
    const [beside = [], ofSender = []] = (around.data ?? []).map(hitsOf)
    const neighbours = (hits: readonly SearchHit[], path: string) => {
      const place = numberAt(tx._source, path) ?? 0
      const idAt = (wanted: number) => hits.find(hit => numberAt(hit._source, path) === wanted)?._id
      return { previous: idAt(place - 1), next: idAt(place + 1) }
    }
    const [inBlock, bySender] = [neighbours(beside, 'transactionIndex.num'), neighbours(ofSender, 'nonce.num')]
    return (
      <>
        <ThingHeader id={tx._id} what="Transaction" kinds="tx,event,call,trace">
          <Neighbours kind="tx" what="in the block" {...inBlock} keys={['[', ']']} />
          <Neighbours kind="tx" what="of the sender" {...bySender} keys={['{', '}']} />
        </ThingHeader>
        <Facts class="thing-facts" of={txFacts(tx._source)} />
        <TxContents tx={tx} />
      </>
    )
  },
)

/** Neighbours in the block and by the sender's nonce. */
const txNeighbours = (source: JsonObject): MultiSearchItem[] => {
  const beside = (path: string) => {
    const place = numberAt(source, path) ?? 0
    return { terms: { [path]: [place - 1, place + 1].filter(it => it >= 0) } }
  }
  const inBlock = allOf(
    term('blockNumber.num', numberAt(source, 'blockNumber.num') ?? 0),
    beside('transactionIndex.num'),
  )
  const bySender = allOf(term('from', textAt(source, 'from') ?? ''), beside('nonce.num'))
  return [
    { kinds: ['tx'], body: { query: inBlock, _source: ['transactionIndex'] } },
    { kinds: ['tx'], body: { query: bySender, _source: ['nonce'] } },
  ]
}

const txFacts = (source: JsonObject) => {
  const text = (path: string) => textAt(source, path)
  const units = (path: string) => unitsAt(source, path)
  const [used, limit, most, tip] = ['gasUsed', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'].map(units)
  const paid = units('effectiveGasPrice') ?? units('gasPrice')
  const [type, place] = [numberAt(source, 'type.num'), numberAt(source, 'transactionIndex.num')]
  const tipped = ifPresent(tip, it => say`, to the builder at most ${<Gwei value={it} />}`)
  const address = (path: string) => ifPresent(text(path), it => <AddressLink value={it} />)
  const countOf = (path: string, what: string) => {
    const { length } = listAt(source, path)
    return length > 0 && `${length.toLocaleString()} ${what}`
  }
  const authorizations = listAt(source, 'authorizationList').map((it, i) => (
    <li key={i}>{say`to that of ${<AddressLink value={textAt(it, 'address')} />}`}</li>
  ))
  return {
    Result: <Result source={source} />,
    Block: say`${<BlockLink number={numberAt(source, 'blockNumber.num')} />}${dim`, place ${place}`}`,
    Time: <When hit={{ _source: source }} />,
    From: say`${<AddressLink value={text('from')} />} ${dim`nonce ${numberAt(source, 'nonce.num')}`}`,
    To: address('to') ?? say`${dim`a new contract `}${address('contractAddress')}`,
    Function: optionalText(text('method'), 120),
    Value: <Coins value={units('value') ?? 0n} />,
    Fee: used !== undefined && paid !== undefined && <Coins value={used * paid} />,
    Gas: ifPresent(
      used,
      it => say`${<Amount value={it} />}${ifPresent(limit, it => dim` of ${<Amount value={it} />}`)}`,
    ),
    'Gas price': ifPresent(
      paid,
      it => say`${<Gwei value={it} />}${ifPresent(most, it => dim` at most ${<Gwei value={it} />}${tipped}`)}`,
    ),
    Type: TX_TYPES[type ?? -1] ?? type,
    'Access list': countOf('accessList', 'entries'),
    Blobs: countOf('blobVersionedHashes', 'blobs'),
    'Accounts that set their code': authorizations.length > 0 && <ul class="plain">{authorizations}</ul>,
  }
}

const TX_TYPES: Record<number, string> = {
  0: '0, legacy',
  1: '1, with an access list (EIP-2930)',
  2: '2, with a priority fee (EIP-1559)',
  3: '3, with blobs (EIP-4844)',
  4: '4, sets code (EIP-7702)',
}

const Result = ({ source }: { source: JsonObject }) => {
  const status = valueAt(source, 'status')
  if (status !== false) return status === true ? <span class="good">Succeeded</span> : <span class="dim">Not told</span>
  const [error, address] = [textAt(source, 'error'), textAt(source, 'revertAddress')]
  return (
    <span class="bad">
      <strong>Failed</strong>
      {error && say`: ${<Text value={error} />}`}
      {address && say` in ${<AddressLink value={address} />}`}
    </span>
  )
}

const FIRST_MOST = 250
const GREATEST_MOST = 10_000

/** Up to `most` traces, calls, events and logs. */
const insideOf = (id: string, most: number): MultiSearchItem[] => {
  const body = { query: term('transactionHash', id), size: most, sort: OLDEST }
  const bulk = ['action.input', 'action.init', 'result.output', 'result.code']
  return [
    { kinds: ['trace'], body: { ...body, _source: { excludes: bulk } } },
    { kinds: ['call'], body },
    { kinds: ['event'], body },
    { kinds: ['log'], body },
  ]
}

const TxContents = ({ tx }: { tx: SearchHit }) => {
  const [most, setMost] = useState(FIRST_MOST)
  const { data, error, again } = useSearches(insideOf(tx._id, most))
  const [traces = [], calls = [], events = [], logs = []] = (data ?? []).map(hitsOf)
  const steps = stepsOf(tx._source, traces, calls)
  const movements = events.flatMap(hit => movementOf(hit) ?? [])
  const coins = steps.filter(moves)
  const isCut = (data ?? []).some(({ hits }) => hits.total > most)
  /** Tab that waits for data. */
  const tab = (name: string, title: string, count: number, show: () => preact.ComponentChildren) => ({
    name,
    title: data ? `${title} (${count.toLocaleString()}${isCut ? ' and more' : ''})` : title,
    show: () => (data ? show() : error === undefined && <Busy label="Reading what happened" />),
  })
  const tabs = [
    tab('steps', 'Steps', steps.length, () => (
      <>
        {traces.length === 0 && calls.length < 2 && (
          <p class="dim">Steps inside are known where blocks are indexed with traces.</p>
        )}
        <Steps steps={steps} began={beganAt(tx._source)} />
      </>
    )),
    tab('events', 'Events', Math.max(events.length, logs.length), () => <Events events={events} logs={logs} />),
    tab('movements', 'Movements', movements.length + coins.length, () => (
      <Movements coins={coins} movements={movements} />
    )),
    {
      name: 'input',
      title: 'Input',
      show: () => <InputTab tx={tx._source} call={steps.find(it => it.path.length === 0)} />,
    },
    { name: 'json', title: 'JSON', show: () => <WholeDocument kind="tx" id={tx._id} /> },
  ]
  const cut = `first ${most.toLocaleString()} of each kind are shown.`
  const more = () => setMost(Math.min(most * 8, GREATEST_MOST))
  const readMore = <Button class="link" label="Read more of it" onClick={more} />
  return (
    <>
      {error !== undefined && <Fault title="What happened in it cannot be read" error={error} again={again} />}
      {isCut && most < GREATEST_MOST && <p>{say`It did much: the ${cut} ${readMore}`}</p>}
      {isCut && most >= GREATEST_MOST && <p>The {cut}</p>}
      <QueryTabs label="What happened" tabs={tabs} />
    </>
  )
}

const beganAt = (source: JsonObject): string | undefined =>
  Array.isArray(valueAt(source, 'revertTrace')) ? listAt(source, 'revertTrace').join() : undefined

/** Execution steps; `began`: origin of the failure. */
const Steps = ({ steps, began }: { steps: readonly ExecutionStep[]; began: string | undefined }) => (
  <ol class="steps" aria-label="Steps">
    {steps.map(step => (
      <StepView key={step.path.join()} step={step} isBeginning={began !== undefined && began === step.path.join()} />
    ))}
  </ol>
)

const MAX_INDENT = 16
const TYPE_NAMES: Record<string, string> = { suicide: 'self-destruction', create: 'creation' }

const StepView = ({ step, isBeginning }: { step: ExecutionStep; isBeginning: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  const { path, type, from, to, value, method, selector, args, gasUsed, error, isUndone } = step
  const called = method ?? selector
  return (
    <li
      class={error !== undefined ? 'failed' : isUndone ? 'undone' : undefined}
      style={{ '--depth': Math.min(path.length, MAX_INDENT) }}
    >
      <div class="step">
        <code class="dim">{path.length === 0 ? '·' : path.join('.')}</code>{' '}
        <span class="kind">{TYPE_NAMES[type] ?? type}</span>{' '}
        <span class="way">
          <AddressLink value={from} brief /> → <AddressLink value={to} />
        </span>{' '}
        {!(type in TYPE_NAMES) &&
          (called === undefined ? dim`without a function ` : <strong>{briefOf(called, 80)} </strong>)}
        {value !== undefined && value > 0n && <Coins value={value} />}
        {ifPresent(gasUsed, it => dim` ${it.toLocaleString()} gas`)}
      </div>
      {error !== undefined && (
        <p class="bad">
          <strong>{isBeginning ? 'Failed, and the failure began here' : 'Failed'}</strong> · <Text value={error} />
        </p>
      )}
      {error === undefined && isUndone && <p class="dim">Undone: a step above it failed.</p>}
      <Args args={args} />
      {step.traceId !== undefined && (
        <details onToggle={event => setOpen(event.currentTarget.open)}>
          <summary>Input and output</summary>
          {isOpen && <InAndOut id={step.traceId} />}
        </details>
      )}
    </li>
  )
}

const TRACE_BYTES: readonly [name: string, path: string][] = [
  ['Input', 'action.input'],
  ['Initialisation code', 'action.init'],
  ['Output', 'result.output'],
  ['Code', 'result.code'],
]

/** Raw bytes of a step, loaded when opened. */
const InAndOut = ({ id }: { id: string }) => {
  const asked = useGet<SearchHit>(documentPath(useContext(NetworkContext), 'trace', id))
  return (
    <Await asked={asked} busy="Reading the step">
      {({ _source }) => (
        <NamedValues
          of={TRACE_BYTES.flatMap(([name, path]) => {
            const hex = textAt(_source, path)
            return hex === undefined ? [] : [[name, <RawBytes key={name} hex={hex} most={512} />] as const]
          })}
        />
      )}
    </Await>
  )
}

/** Logs by index with their decoded events. */
const Events = ({ events, logs }: { events: readonly SearchHit[]; logs: readonly SearchHit[] }) => {
  const placeOf = ({ _source }: SearchHit) => numberAt(_source, 'logIndex.num') ?? 0
  const [byPlace, logsByPlace] = [events, logs].map(hits => new Map(hits.map(hit => [placeOf(hit), hit])))
  const places = [...new Set([...logs, ...events].map(placeOf))].sort((a, b) => a - b)
  if (places.length === 0) return <Empty title="It emitted nothing" />
  return (
    <ol class="steps" aria-label="Events">
      {places.map(place => (
        <Event key={place} place={place} log={logsByPlace!.get(place)} event={byPlace!.get(place)} />
      ))}
    </ol>
  )
}

const Event = ({ place, log, event }: { place: number; log: SearchHit | undefined; event: SearchHit | undefined }) => {
  const probability = numberAt(event?._source, 'probability')
  const topics = listAt(log?._source, 'topics').map(
    (topic, i) => [`Topic ${i}`, <RawBytes key={i} hex={String(topic)} />] as const,
  )
  return (
    <li>
      <div class="step">
        <code class="dim">{place}</code>{' '}
        <strong>{event ? briefOf(textAt(event._source, 'event') ?? '?', 80) : 'A log that is not decoded'}</strong>{' '}
        <span class="dim">by</span> <AddressLink value={textAt((event ?? log)!._source, 'address')} />{' '}
        <span class="bad">{optionalText(textAt(event?._source, 'error'), 200)}</span>
        {(probability ?? 1) < 0.9 && dim`decoded by a guess, ${Math.round(probability! * 100)} % sure`}
      </div>
      {event && <Args args={listAt(event._source, 'args')} />}
      {log && (
        <details open={!event}>
          <summary>Topics and data</summary>
          <NamedValues
            of={[...topics, ['Data', <RawBytes key="data" hex={textAt(log._source, 'data') ?? '0x'} most={512} />]]}
          />
        </details>
      )}
    </li>
  )
}

/** Moved coins, then tokens. */
const Movements = ({ coins, movements }: { coins: readonly ExecutionStep[]; movements: readonly Movement[] }) =>
  coins.length + movements.length === 0 ? (
    <Empty title="It moved no coins and no tokens" />
  ) : (
    <ol class="steps" aria-label="Movements">
      {coins.map(({ path, from, to, value }) => (
        <li key={`coin ${path}`}>
          <div class="step">
            <Coins value={value!} />
          </div>
          <div class="way">
            <AddressLink value={from} /> → <AddressLink value={to} />
          </div>
        </li>
      ))}
      {movements.map((movement, i) => (
        <li key={i}>
          <div class="step">
            <MovementAmount movement={movement} /> {dim`of ${<AddressLink value={movement.token} kind="token" />}`}
          </div>
          <div class="way">
            <Party value={movement.from} zero="created" /> → <Party value={movement.to} zero="destroyed" />
          </div>
        </li>
      ))}
    </ol>
  )

/** Words shown; the raw bytes have the rest. */
const MOST_WORDS = 128

const InputTab = ({ tx, call }: { tx: JsonObject; call: ExecutionStep | undefined }) => {
  const input = textAt(tx, 'input') ?? '0x'
  if (input === '0x') return <Empty title="The transaction has no input" />
  const isCreation = textAt(tx, 'to') === undefined
  const bytes = (input.length - 2) / 2
  const words = hexWords(input, 4)
  return (
    <>
      {isCreation ? (
        <p>Initialisation code of a new contract.</p>
      ) : (
        <section aria-label="Decoded">
          <h2>Decoded</h2>
          {call?.method === undefined ? (
            <p class="dim">{say`No function is known by the selector ${<code>{input.slice(0, 10)}</code>}.`}</p>
          ) : (
            <p>
              <strong>{optionalText(call.method, 120)}</strong> <code class="dim">{call.selector}</code>
            </p>
          )}
          {call && <Args args={call.args} />}
        </section>
      )}
      <section aria-label="Raw">
        <h2>{say`Raw, ${bytes.toLocaleString()} bytes ${<Copy text={input} what="the input" />}`}</h2>
        {isCreation || bytes < 4 ? (
          <RawBytes hex={input} most={2_000} />
        ) : (
          <>
            <ol class="words" start={0}>
              {words.slice(0, MOST_WORDS).map((word, i) => (
                <li key={i}>
                  <code>{word}</code>
                </li>
              ))}
            </ol>
            {words.length > MOST_WORDS && <RawBytes hex={input} />}
          </>
        )}
      </section>
    </>
  )
}
