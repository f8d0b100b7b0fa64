import { useMemo, useState } from 'preact/hooks'
import { channelNamed } from '../../../rules/channels.ts'
import { type AskState, useAction, useAsk, useSettled } from '../../api/ask.ts'
import { type Json, type JsonObject, listAt, parseJson, stringifyJson, textAt, valueAt } from '../../api/json.ts'
import type { PreviewedMessage, SearchHit, Simulation } from '../../api/wire.ts'
import { Fault } from '../../parts/answer.tsx'
import { Chart, type Series } from '../../parts/chart.tsx'
import { Button, Select } from '../../parts/controls.tsx'
import { countText, formatAmount, shortHex, visibleText } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { type KnownAddress, useKnown } from '../../parts/names.ts'
import { Hash, NetworkContext, say, Text, Time } from '../../parts/text.tsx'
import { EpisodeKey } from './alerts.tsx'
import { faultsOf, previewTest, simulateRule } from './api.ts'
import { isComplete, roleOf, toRuleLines } from './condition-rows.ts'
import { type RuleFault, receiverOf, ruleNetwork, targetOf, withConfig } from './model.ts'
import { Warnings } from './rule.tsx'
import { foundWords } from './window-words.ts'

/** Debounce of typing. */
const SETTLED_MS = 200
const SPANS = ['100', '1000', '10000', '100000'].map(value => ({
  value,
  label: `In the newest ${Number(value).toLocaleString()} blocks`,
}))

interface Previewed extends AskState<Simulation> {
  blocks: string
  setBlocks(blocks: string): void
  isWhole: boolean
  /** Of readings, which cost calls of a node: asks for them; absent once these are asked for. */
  ask?: (() => void) | undefined
}

/** Preview of the conditions; the rest may be unfinished. */
export const usePreview = (draft: JsonObject): Previewed => {
  const [chosen, setBlocks] = useState<string>()
  const [wanted, setWanted] = useState<string>()
  const conditions = listAt(draft, 'config.targetMap')
  const isRead = targetOf(draft) === 'State'
  // Most nodes have the state of these.
  const blocks = chosen ?? (isRead ? '100' : '1000')
  const isWhole =
    conditions.length > 0 && toRuleLines(conditions).every(isComplete) && isWholeWindow(valueAt(draft, 'config.when'))
  const body = isWhole ? stringifyJson(bodyOf(draft, Number(blocks))) : undefined
  const waits = isRead && body !== wanted
  const settled = useSettled(body, SETTLED_MS)
  const key = isRead ? (waits ? undefined : body) : settled
  const asked = useAsk(key, signal => simulateRule(parseJson(key!) as JsonObject, signal))
  return { ...asked, blocks, setBlocks, isWhole, ask: waits ? () => setWanted(body) : undefined }
}

/** Nothing is sent, so that what is not of the conditions may be unfinished. */
const bodyOf = (draft: JsonObject, lastBlocks: number): JsonObject => {
  const { technology = '', blockchain = '', network = '' } = draft
  const rule = { ...{ technology, blockchain, network }, config: draft.config ?? null }
  const actions = listAt(draft, 'config.alerts')
  return {
    ...withConfig(rule, 'alerts', (actions.length === 0 ? [null] : actions).map(placeholderFor)),
    ...{ name: 'preview', maxConfirmationCount: 0, lastBlocks, buckets: 60, size: 10 },
  }
}

/** A receiver that is never refused, and gets as many messages. */
const placeholderFor = (action: Json, i: number): JsonObject => {
  const type = channelNamed(textAt(action, 'type'))
  if (type === 'Email') return { type, parameters: { recipients: [`someone${i}@example.org`] } }
  if (type === 'PagerDuty') return { type, parameters: { routingKey: `placeholder${i}` } }
  // An address with values of the document gets each alert by itself, as a GET does.
  const isAlone = type === 'Webhook (GET)' || textAt(action, 'parameters.url')?.includes('{')
  return { type: isAlone ? 'Webhook (GET)' : 'Webhook (POST)', parameters: { url: `https://example.org/${i}` } }
}

const isWholeWindow = (when: Json | undefined): boolean =>
  [...listAt(when, 'steps'), valueAt(when, 'until')].every(it =>
    toRuleLines(listAt(it, 'targetMap')).every(isComplete),
  ) &&
  listAt(when, 'conditions').every(it => {
    const [aggregate, name, value] = [textAt(it, 'aggregate'), textAt(it, 'name'), textAt(it, 'value')]
    return (aggregate === 'Count' || name !== '') && (aggregate === 'First' || value !== '')
  })

export const Preview = ({ preview, draft }: { preview: Previewed; draft: JsonObject }) => {
  const { blocks, setBlocks, isWhole, ask, again } = preview
  // What was read for other conditions says nothing of these.
  const { data, error, busy } = ask ? { data: undefined, error: undefined, busy: false } : preview
  const series = useMemo(() => data?.series && barsOf(data.series), [data])
  const isCorrect = faultsOf(error).length === 0
  return (
    <section aria-label="What it would have found">
      <h2>What it would have found</h2>
      <Select aria-label="In the newest blocks" value={blocks} options={SPANS} onChange={setBlocks} />
      <p role="status">
        {!isWhole && <span class="dim">Complete the conditions to see it.</span>}
        {isWhole && ask && <Button label="Read these blocks from the node" onClick={ask} />}
        {isWhole && busy && <span class="dim">Searching …</span>}
        {isWhole && !busy && error === undefined && data && <SimulationSummary data={data} draft={draft} />}
      </p>
      {isWhole && error !== undefined && isCorrect && <Fault error={error} again={again} />}
      {isWhole && !isCorrect && <p class="dim">Correct what is marked.</p>}
      {isWhole && error === undefined && data && (
        <>
          <Warnings of={data.warnings ?? []} />
          {series && data.total > 0 && (
            <Chart label={`${data.total} matches by the time of their blocks`} series={series} />
          )}
          {data.total === 0 && <p>Nothing. Are the values right, and do they occur in these blocks?</p>}
          <NetworkContext.Provider value={ruleNetwork(draft)}>
            {data.windows && data.windows.episodes.length > 0 && <PreviewedEpisodes windows={data.windows} />}
            {data.hits.length > 0 && <h3>Newest{data.windows && ' matches'}</h3>}
            {data.hits.map(hit => (
              <MatchedHit key={`${hit._type} ${hit._id}`} hit={hit} />
            ))}
          </NetworkContext.Provider>
        </>
      )}
    </section>
  )
}

const barsOf = ({ intervalMs, buckets }: NonNullable<Simulation['series']>): Series => {
  const times = buckets.map(({ from }) => Date.parse(from) / 1000)
  const end = times.at(-1)
  const ends = end === undefined ? [] : [end + intervalMs / 1000]
  return { times: [...times, ...ends], counts: [...buckets.map(({ count }) => count), ...ends.map(() => 0)] }
}

const SimulationSummary = ({ data, draft }: { data: Simulation; draft: JsonObject }) => {
  const { total, alerts = total, messages = [], windows, fromBlock, toBlock, complete, holes } = data
  const actions = listAt(draft, 'config.alerts')
  const isOther = alerts !== null && (windows !== undefined || alerts !== total)
  return (
    <>
      {isOther && (
        <>
          <strong>{alerts.toLocaleString()}</strong> {alerts === 1 ? 'alert' : 'alerts'} from{' '}
        </>
      )}
      <strong>{total.toLocaleString()}</strong> {total === 1 ? 'match' : 'matches'}
      {fromBlock !== null &&
        toBlock !== null &&
        ` in blocks ${fromBlock.toLocaleString()} to ${toBlock.toLocaleString()}`}
      {(!complete || holes.length > 0) && ', of which some are not stored'}
      {actions.length > 0 &&
        messages.map(({ action, messages }) =>
          messages === null ? null : (
            <span class="told" key={action}>
              {countText(messages, 'message')} to{' '}
              <Text value={receiverOf(actions[action] ?? null) || `receiver ${action + 1}`} most={80} brief />
            </span>
          ),
        )}
    </>
  )
}

const MOST_EPISODES = 20

/** Alerts of windows and steps, newest first. */
const PreviewedEpisodes = ({ windows: { episodes, open, undecided } }: { windows: Simulation['windows'] & {} }) => (
  <>
    <h3>Newest alerts{open > 0 && `, ${open.toLocaleString()} still open`}</h3>
    {undecided.length > 0 && <p class="dim">Where blocks before them are not stored, some may be missing.</p>}
    <ul class="plain">
      {episodes.slice(0, MOST_EPISODES).map(({ key, opened, ended, steps, peak }, i) => (
        <li class="hit" key={i}>
          Block {opened.block.toLocaleString()} <Time value={opened.time} brief />
          {ended && ` to block ${ended.block.toLocaleString()}`}
          {ended === null && ', open'}
          <br />
          <EpisodeKey of={key} />: <Text value={foundWords({ steps, conditions: peak })} most={160} brief />
        </li>
      ))}
    </ul>
  </>
)

const MatchedHit = ({ hit: { _type, _id, _source } }: { hit: SearchHit }) => {
  const time = valueAt(_source, 'timestamp')
  const height =
    valueAt(_source, 'blockNumber.num') ?? valueAt(_source, 'number.num') ?? valueAt(_source, 'firstSeen.num')
  const transaction = textAt(_source, 'transactionHash')
  const [kind, id] = transaction === undefined ? [_type, _id] : ['tx', transaction]
  return (
    <details class="hit">
      <summary>
        {height !== undefined && `Block ${String(height)} `}
        {(typeof time === 'number' || typeof time === 'string') && <Time value={time} brief />}{' '}
        <Said source={_source} />
      </summary>
      <p>
        {_type} <Hash value={id} kind={kind === 'block' || kind === 'tx' ? kind : undefined} />
      </p>
      <JsonView value={_source} label="The document" />
    </details>
  )
}

/** An event or a call with amounts in units and short addresses; the title has it as it is. */
const Said = ({ source }: { source: SearchHit['_source'] }) => {
  const token = useKnown(textAt(source, 'address') ?? textAt(source, 'to') ?? '')
  const raw = textAt(source, 'str') ?? textAt(source, 'method') ?? textAt(source, 'name') ?? ''
  const name = textAt(source, 'event') ?? textAt(source, 'method')
  const args = listAt(source, 'args').map(it => previewedArgument(it, token))
  const reading = textAt(source, 'call')
  if (reading !== undefined && name === undefined)
    return <Text value={`${reading}: ${saidReading(source)}`} most={160} />
  const said =
    name === undefined || args.length === 0 || args.includes(undefined)
      ? raw.replace(/0x[0-9a-f]{40,}/gi, shortHex)
      : undefined
  return (
    <span title={visibleText(raw).slice(0, 500)}>
      <Text value={said ?? `${name}(${args.join(', ')})`} most={160} brief />
    </span>
  )
}

const saidReading = (source: SearchHit['_source']): string => {
  const results = listAt(source, 'result').map(
    it =>
      `${textAt(it, 'name') ?? ''}=${valueAt(it, 'value.scaled') ?? valueAt(it, 'value.num') ?? textAt(it, 'value.hex')}`,
  )
  return textAt(source, 'error') ?? String(valueAt(source, 'value.coin') ?? results.join(', '))
}

const previewedArgument = (argument: Json, token: KnownAddress | undefined): string | undefined => {
  const [name, hex, type = ''] = ['name', 'value.hex', 'value.type'].map(path => textAt(argument, path))
  if (name === undefined || hex === undefined) return undefined
  if (type === 'address') return `${name}=${shortHex(hex)}`
  if (!/^uint/.test(type)) return undefined
  const decimals = roleOf({ names: [name] }) === 'amount' ? token?.decimals : undefined
  const units = BigInt(hex)
  return decimals === undefined
    ? `${name}=${units}`
    : `${name}=${formatAmount(units, decimals)} ${token?.symbol ?? ''}`.trimEnd()
}

export const FaultList = ({ of }: { of: readonly RuleFault[] }) => (
  <ul>
    {of.map(({ path, message }) => (
      <li key={`${path} ${message}`}>
        <code>
          <Text value={path} />
        </code>
        : <Text value={message} />
      </li>
    ))}
  </ul>
)

/** Messages that the unsaved rule would send; nothing is sent. */
export const TestPreview = ({ rule, disabled }: { rule: JsonObject; disabled: boolean }) => {
  const [asked, setAsked] = useState<JsonObject>()
  const { busy, run, ...result } = useAction(() => previewTest(rule))
  const ask = () => {
    setAsked(rule)
    return run()
  }
  // A preview of an earlier text is outdated.
  const { data: answer, error } = asked === rule ? result : {}
  const faults = faultsOf(error)
  return (
    <section class="test" aria-label="What would be sent">
      <Button label={busy ? 'Looking …' : 'Show what would be sent'} disabled={busy || disabled} onClick={ask} />
      {error !== undefined && faults.length === 0 && <Fault title="The rule cannot be tested" error={error} />}
      {faults.length > 0 && (
        <div class="fault" role="alert">
          <FaultList of={faults} />
        </div>
      )}
      {answer && (
        <div role="status">
          <p class="dim">
            Nothing was sent. For {answer.entity._type} <Text value={answer.entity._id} />:
          </p>
          {answer.messages.map(message => (
            <MessagePreview key={message.action} message={message} />
          ))}
        </div>
      )}
    </section>
  )
}

const MessagePreview = ({ message }: { message: PreviewedMessage }) => {
  const { action, type, method, url = '', body, to, subject = '', text = '', refused } = message
  if (refused !== undefined)
    return <p class="bad">{say`${type}: nothing would be sent, since ${<Text value={refused} />}.`}</p>
  if (!to)
    return (
      <>
        <p>
          {type}: {method} <Text value={url} />
        </p>
        {body && <JsonView value={body} label={`The body of alert ${action + 1}`} />}
      </>
    )
  const lines = text.trim().split('\n')
  return (
    <>
      <p>{say`${type} to ${<Text value={to.join(', ')} />}: ${<Text value={subject} />}`}</p>
      <pre>
        {lines.map((line, i) => (
          <span key={i}>
            <Text value={line} brief />
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  )
}
