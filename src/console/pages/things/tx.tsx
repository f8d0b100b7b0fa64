import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type JsonObject, listAt, textAt, valueAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Button } from '../../parts/controls.tsx'
import { QueryTabs } from '../../parts/menu.tsx'
import { type Column, PlainTable } from '../../parts/table.tsx'
import { Amount, Coins, Copy, dim, Facts, say, Text } from '../../parts/text.tsx'
import { allOf, byId, hitsOf, type MultiSearchItem, OLDEST, term, useSearches } from './ask.ts'
import { CallTree } from './calls.tsx'
import { type BalanceChange, balanceChanges, type Transfers, transfersOf } from './flows.ts'
import { documentPage, jsonTab, Neighbours, Section, ThingHeader } from './page.tsx'
import { type ExecutionStep, hexWords, isHashText, numberAt, stepsOf, unitsAt } from './read.ts'
import { feeOf, type SentencePart, sentenceOf } from './sentence.ts'
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
    form: 'The hash of a transaction is 0x and 64 hex digits.',
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
  const [paid, fee] = [units('effectiveGasPrice') ?? units('gasPrice'), feeOf(source)]
  const [type, place] = [numberAt(source, 'type.num'), numberAt(source, 'transactionIndex.num')]
  const tipped = ifPresent(tip, it => say`, priority fee at most ${<Gwei value={it} />}`)
  const address = (path: string) => ifPresent(text(path), it => <AddressLink value={it} />)
  const countOf = (path: string, what: string) => {
    const { length } = listAt(source, path)
    return length > 0 && `${length.toLocaleString()} ${what}`
  }
  const authorizations = listAt(source, 'authorizationList').map((it, i) => (
    <li key={i}>{say`to ${<AddressLink value={textAt(it, 'address')} />}`}</li>
  ))
  return {
    Status: <Result source={source} />,
    Block: say`${<BlockLink number={numberAt(source, 'blockNumber.num')} />}${dim`, position ${place}`}`,
    Time: <When hit={{ _source: source }} />,
    From: say`${<AddressLink value={text('from')} />} ${dim`nonce ${numberAt(source, 'nonce.num')}`}`,
    To: address('to') ?? say`${dim`new contract `}${address('contractAddress')}`,
    Method: optionalText(text('method'), 120),
    Value: <Coins value={units('value') ?? 0n} />,
    Fee: fee !== undefined && <Coins value={fee} />,
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
    'Accounts that delegate': authorizations.length > 0 && <ul class="plain">{authorizations}</ul>,
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
  if (status !== false)
    return status === true ? <span class="good">Succeeded</span> : <span class="dim">Not known</span>
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
  const transfers = transfersOf(steps, events, logs)
  const isCut = (data ?? []).some(({ hits }) => hits.total > most)
  const isTraced = traces.length > 0 || calls.length > 1
  /** Tab that waits for data. */
  const tab = (name: string, title: string, count: number, show: () => ComponentChildren) => ({
    name,
    title: data ? `${title} (${count.toLocaleString()}${isCut ? ' and more' : ''})` : title,
    show: () => (data ? show() : error === undefined && <Busy label={`Reading the ${title.toLowerCase()}`} />),
  })
  const tabs = [
    tab('calls', 'Calls', steps.length, () => (
      <>
        {!isTraced && <p class="dim">Internal calls are known where blocks are indexed with traces.</p>}
        <CallTree steps={steps} began={beganAt(tx._source)} />
      </>
    )),
    tab('events', 'Events', Math.max(events.length, logs.length), () => <Events events={events} logs={logs} />),
    tab('transfers', 'Transfers', transfers.tokens.length + transfers.coins.length, () => (
      <>
        <Balances tx={tx._source} transfers={transfers} isTraced={isTraced} />
        <TransferList transfers={transfers} />
      </>
    )),
    {
      name: 'input',
      title: 'Input',
      show: () => <InputTab tx={tx._source} call={steps.find(it => it.path.length === 0)} />,
    },
    jsonTab('tx', tx._id),
  ]
  const cut = `The first ${most.toLocaleString()} calls, events and logs are shown.`
  const more = () => setMost(Math.min(most * 8, GREATEST_MOST))
  return (
    <>
      <p class="sentence">
        {data || error !== undefined ? (
          <Sentence
            of={sentenceOf({
              ...{ tx: tx._source, transfers, events, calls: steps.length },
              isWhole: data !== undefined && !isCut,
            })}
          />
        ) : (
          '\u00a0'
        )}
      </p>
      <Facts class="thing-facts" of={txFacts(tx._source)} />
      {error !== undefined && <Fault title="Its calls and events cannot be read" error={error} again={again} />}
      {isCut && (
        <p>{say`${cut} ${most < GREATEST_MOST && <Button class="link" label="Show more" onClick={more} />}`}</p>
      )}
      <QueryTabs label="Of the transaction" tabs={tabs} />
    </>
  )
}

const beganAt = (source: JsonObject): string | undefined =>
  Array.isArray(valueAt(source, 'revertTrace')) ? listAt(source, 'revertTrace').join('.') : undefined

const Sentence = ({ of }: { of: readonly SentencePart[] }) => (
  <>
    {of.map((part, i) => {
      if (typeof part === 'string') return part
      if ('said' in part) return <strong key={i}>{briefOf(part.said, 160)}</strong>
      if ('address' in part) return <AddressLink key={i} value={part.address} brief />
      if ('coins' in part) return <Coins key={i} value={part.coins} brief />
      return <MovementAmount key={i} movement={part} brief />
    })}
  </>
)

/** Logs by index with their decoded events. */
const Events = ({ events, logs }: { events: readonly SearchHit[]; logs: readonly SearchHit[] }) => {
  const placeOf = ({ _source }: SearchHit) => numberAt(_source, 'logIndex.num') ?? 0
  const [byPlace, logsByPlace] = [events, logs].map(hits => new Map(hits.map(hit => [placeOf(hit), hit])))
  const places = [...new Set([...logs, ...events].map(placeOf))].sort((a, b) => a - b)
  if (places.length === 0) return <Empty title="There are no events" />
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
        <strong>{event ? briefOf(textAt(event._source, 'event') ?? '?', 80) : 'Not decoded'}</strong>{' '}
        <span class="dim">by</span> <AddressLink value={textAt((event ?? log)!._source, 'address')} brief />{' '}
        <span class="bad">{optionalText(textAt(event?._source, 'error'), 200)}</span>
        {(probability ?? 1) < 0.9 && dim`decoded by a guess, ${Math.round(probability! * 100)} % sure`}
      </div>
      {event && <Args args={listAt(event._source, 'args')} of={textAt(event._source, 'address')} />}
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

interface TransferProps {
  transfers: Transfers
}

/** Net changes of each address. */
const Balances = ({ tx, transfers, isTraced }: TransferProps & { tx: JsonObject; isTraced: boolean }) => {
  const [sender, fee] = [textAt(tx, 'from') ?? '', feeOf(tx)]
  const changes = [
    ...balanceChanges(transfers).map(it => ({ ...it, isFee: false })),
    ...(fee ? [{ address: sender, token: undefined, item: { value: fee }, isLoss: true, isFee: true }] : []),
  ]
  const rows = [...Map.groupBy(changes, ({ address }) => address.toLowerCase()).values()]
  return (
    <>
      <h2>Balance changes</h2>
      {!isTraced && <p class="dim">Ether of internal calls is known where blocks are indexed with traces.</p>}
      <PlainTable label="Balance changes" columns={BALANCES} rows={rows} keyOf={([first]) => first!.address} />
    </>
  )
}

type ChangeRow = (BalanceChange & { isFee: boolean })[]

const BALANCES: readonly Column<ChangeRow>[] = [
  { title: 'Address', cell: ([first]) => <AddressLink value={first!.address} /> },
  {
    title: 'Change',
    align: 'right',
    cell: changes =>
      changes.map(({ token, item, isLoss, isFee }, i) => (
        <div key={i} class={isLoss ? 'bad' : 'good'}>
          {isLoss ? '−' : '+'}
          {token === undefined ? (
            <Coins value={item.value!} brief />
          ) : (
            <MovementAmount movement={{ token, items: [item] }} brief />
          )}
          {isFee && dim` fee`}
        </div>
      )),
  },
]

interface TransferRow {
  from: string | undefined
  to: string | undefined
  amount: ComponentChildren
}

const TRANSFERS: readonly Column<TransferRow>[] = [
  { title: 'From', cell: ({ from }) => <Party value={from ?? ''} zero="minted" /> },
  { title: 'To', cell: ({ to }) => <Party value={to ?? ''} zero="burned" /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => amount },
]

/** Ether, then tokens. */
const TransferList = ({ transfers: { coins, tokens } }: TransferProps) => {
  const rows: TransferRow[] = [
    ...coins.map(({ from, to, value }) => ({ from, to, amount: <Coins value={value!} /> })),
    ...tokens.map(movement => ({ ...movement, amount: <MovementAmount movement={movement} /> })),
  ]
  if (rows.length === 0) return null
  return (
    <>
      <h2>Transfers</h2>
      <PlainTable label="Transfers" columns={TRANSFERS} rows={rows} keyOf={row => rows.indexOf(row)} />
    </>
  )
}

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
        <Section title="Decoded">
          {call?.method === undefined ? (
            <p class="dim">{say`No method is known by the selector ${<code>{input.slice(0, 10)}</code>}.`}</p>
          ) : (
            <p>
              <strong>{optionalText(call.method, 120)}</strong> <code class="dim">{call.selector}</code>
            </p>
          )}
          {call && <Args args={call.args} of={call.to} />}
        </Section>
      )}
      <Section name="Raw" title={say`Raw, ${bytes.toLocaleString()} bytes ${<Copy text={input} what="the input" />}`}>
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
      </Section>
    </>
  )
}
