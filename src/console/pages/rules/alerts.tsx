import { useEvery, useGet, usePages } from '../../api/ask.ts'
import { type Json, valueAt } from '../../api/json.ts'
import type { Alert, ListedAlertState, Rule, Status } from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { Empty } from '../../parts/answer.tsx'
import { Aside } from '../../parts/controls.tsx'
import { type Column, PagedList } from '../../parts/table.tsx'
import { Facts, Hash, NetworkContext, say, Text, Time } from '../../parts/text.tsx'
import { getAlerts } from './api.ts'
import { closeRow, DeliveryView, REFRESH_MS, toneOf, useChosen } from './deliveries.tsx'
import { isWholeAddress, ruleNetwork, targetKind, targetOf } from './model.ts'
import { SaidAddress } from './sentence.tsx'
import { fieldWords, foundWords, spanWords, stateWords, valuesWords } from './window-words.ts'

const ALERT_STATES = ['', 'pending', 'confirmed', 'resolved', 'retracted', 'withdrawn'].map(value => ({
  ...{ value, label: value || 'All states' },
}))
const EPISODE_STATES = ALERT_STATES.map(({ value, label }) => ({
  ...{ value, label: value === 'confirmed' ? 'open' : value === 'resolved' ? 'ended' : label },
}))

export const Alerts = ({ rule }: { rule: Rule }) => {
  const isOfWindows = valueAt(rule, 'config.when') !== undefined
  const { state, choice, open, ...rest } = useChosen(isOfWindows ? EPISODE_STATES : ALERT_STATES)
  const ask = async (before: string | undefined, signal: AbortSignal) => {
    const { alerts, next } = await getAlerts(rule.id, { state, before }, signal)
    return { rows: alerts, next }
  }
  const pages = usePages(`${rule.id} ${state}`, ask, REFRESH_MS)
  const opened = pages.rows.find(({ id }) => id === open)
  const empty = (
    <Empty title={state === '' ? 'The rule has found nothing yet' : 'No alert is in this state'}>
      <p>
        A rule looks at the blocks that come.
        {!isOfWindows &&
          targetKind(targetOf(rule)) !== undefined &&
          ' Give it an earlier start block to look back into stored blocks.'}
      </p>
    </Empty>
  )
  return (
    <>
      <p>{choice}</p>
      <NetworkContext.Provider value={ruleNetwork(rule)}>
        <PagedList
          {...{ pages, open, empty, ...rest }}
          label="Alerts"
          what="the alerts"
          columns={!isOfWindows ? ALERTS : open === '' ? EPISODES : EPISODES.slice(0, 4)}
        >
          {opened && <OpenAlert alert={opened} rule={rule} again={pages.again} />}
        </PagedList>
      </NetworkContext.Provider>
    </>
  )
}

const STATE_COLUMN: Column<Alert> = {
  ...{ title: 'State', width: '11ch', isMain: true },
  cell: it => <span class={toneOf(it.state)}>{stateWords(it)}</span>,
}
const DELIVERIES_COLUMN: Column<Alert> = {
  ...{ title: 'Deliveries', width: 'minmax(12ch, 1fr)' },
  cell: it => deliverySummary(it),
}
const BLOCK_COLUMN: Column<Alert> = {
  ...{ title: 'Block', width: '10ch', align: 'right' },
  cell: ({ block }) => block.toLocaleString(),
}

const ALERTS: readonly Column<Alert>[] = [
  STATE_COLUMN,
  { title: 'Received', width: '21ch', isMain: true, cell: it => <Time value={it.receivedAt} brief /> },
  DELIVERIES_COLUMN,
  BLOCK_COLUMN,
  { title: 'Found', width: '20ch', cell: ({ entity }) => <Hash value={entity._id} brief /> },
  { title: 'Changed', width: '21ch', cell: it => <Time value={it.changedAt} brief /> },
]

/** Of windows, which open and end. */
const EPISODES: readonly Column<Alert>[] = [
  STATE_COLUMN,
  { title: 'For', width: 'minmax(14ch, 1fr)', isMain: true, cell: ({ when }) => <EpisodeKey of={when?.key ?? {}} /> },
  {
    ...{ title: 'Values', width: 'minmax(18ch, 2fr)', wraps: 'minmax(18ch, 2fr)' },
    cell: ({ when }) => when && <Text value={foundWords(when)} brief />,
  },
  { title: 'Opened', width: '21ch', wraps: '10ch', cell: it => <Time value={it.receivedAt} brief /> },
  { title: 'Ended', width: '21ch', wraps: '10ch', cell: it => episodeEnd(it) },
  DELIVERIES_COLUMN,
  BLOCK_COLUMN,
]

const episodeEnd = ({ state, when, changedAt }: Alert) => {
  if (state === 'resolved') return <Time value={changedAt} brief />
  return when?.ended && `in block ${when.ended.block.toLocaleString()}`
}

/** The values for which it opened. */
export const EpisodeKey = ({ of }: { of: Record<string, string | null> }) => {
  const values = Object.entries(of)
  if (values.length === 0) return <span class="dim">all matches</span>
  return (
    <>
      {values.map(([name, value], i) => (
        <span key={name}>
          {i > 0 && ', '}
          {values.length > 1 && `${fieldWords(name)} `}
          {value === null ? (
            'none'
          ) : isWholeAddress(value) ? (
            <SaidAddress address={value} />
          ) : (
            <Text value={value} most={80} brief />
          )}
        </span>
      ))}
    </>
  )
}

const deliverySummary = ({ deliveries }: Alert) => {
  const counts = new Map<string, number>()
  for (const { state } of deliveries) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count], i) => (
    <span key={state}>
      {i > 0 && ', '}
      <span class={state === 'dead' ? 'bad' : ''}>{`${count} ${state}`}</span>
    </span>
  ))
}

const OpenAlert = ({ alert, rule, again }: { alert: Alert; rule: Rule; again(): void }) => {
  const { _type, _id } = alert.entity
  const network = alert.network ?? ruleNetwork(rule)
  const where = new URLSearchParams({ network, kinds: _type, open: `${_type} ${_id}` })
  // A reading is no document of the store.
  const isReading = _type === 'state'
  const title = isReading
    ? 'Reading'
    : say`${_type} ${<Hash value={_id} network={network} kind={_type === 'tx' ? 'tx' : undefined} />}`
  return (
    <Aside what="alert" title={title} onClose={closeRow}>
      <Life alert={alert} network={network} />
      {alert.when && <EpisodeFacts when={alert.when} />}
      {!isReading && (
        <p>
          <Link to={`/explore?${where}`}>Show the {alert.when ? 'last match' : 'document'} in Explore</Link>
        </p>
      )}
      <p class="dim">{say`Alert ${<Text value={alert.id} />}`}</p>
      <h3>Deliveries</h3>
      {alert.deliveries.length === 0 && <p>No deliveries yet.</p>}
      {alert.deliveries.map(delivery => (
        <DeliveryView key={delivery.id} delivery={delivery} again={again} />
      ))}
    </Aside>
  )
}

const EpisodeFacts = ({ when, when: { key, window, matches, steps, ended } }: { when: Alert['when'] & {} }) => (
  <Facts
    of={{
      For: <EpisodeKey of={key} />,
      [steps ? 'Steps' : 'When it opened']: <Text value={foundWords(when)} />,
      'When it ended': ended && <Text value={valuesWords(ended.conditions)} />,
      Matches: matches.toLocaleString(),
      Window: windowWords(window),
    }}
  />
)

const windowWords = (window: (Alert['when'] & {})['window']): string => {
  const { fromBlock, toBlock, fromTime = 0, toTime = 0 } = window
  const span = spanWords(window as unknown as Json)
  if (fromBlock === undefined || toBlock === undefined)
    return [span, ...[fromTime, toTime].map(it => new Date(it * 1_000).toISOString())].filter(Boolean).join(', ')
  return `${[span, 'blocks'].filter(Boolean).join(', ')} ${fromBlock.toLocaleString()} to ${toBlock.toLocaleString()}`
}

/** The states of an alert. */
const Life = ({ alert, network }: { alert: Alert; network: string }) => {
  const { state, block, confirmations, receivedAt, changedAt, when } = alert
  const status = useGet<Status>(state === 'pending' ? 'status' : undefined)
  useEvery(REFRESH_MS, status.again)
  const head = status.data?.networks.find(it => it.network === network)?.lastBlock?.number
  return (
    <ol class="life" aria-label="The life of the alert">
      <li>{say`Found in block ${block.toLocaleString()}, which was received ${<Time value={receivedAt} />}`}</li>
      {when?.ended && (
        <li>{`Its conditions held until block ${when.ended.block.toLocaleString()}${when.ended.network === undefined ? '' : ` of ${when.ended.network}`}.`}</li>
      )}
      {state === 'pending' ? (
        <li>{waitsFor(confirmations, head === undefined ? undefined : Math.max(head - block, 0))}</li>
      ) : (
        <li class={toneOf(state)}>
          {state[0]!.toUpperCase() + state.slice(1)} <Time value={changedAt} />
          {ENDS[state]}
        </li>
      )}
      {stateWords(alert) === 'open' && <li>Open: its conditions still hold.</li>}
    </ol>
  )
}

const waitsFor = (confirmations: Alert['confirmations'], above: number | undefined): string => {
  if (typeof confirmations === 'string') return `Pending: it fires once its block is ${confirmations}`
  const come = above === undefined ? '' : `, of which ${Math.min(above, confirmations).toLocaleString()} have come`
  return `Pending: it fires ${confirmations.toLocaleString()} blocks later${come}`
}

const ENDS: Record<Exclude<ListedAlertState, 'pending'>, string> = {
  confirmed: ': its block is deep enough, and receivers are notified.',
  retracted: ': its block was reorganised away after it had fired. Receivers are notified.',
  withdrawn: ': its block was reorganised away before it fired. It never fires.',
  resolved: ': it had fired, and its conditions hold no longer.',
}
