import { useMemo, useState } from 'preact/hooks'
import { useAsk, useEvery } from '../../api/ask.ts'
import { messageOf } from '../../api/client.ts'
import { at, isObject, textAt } from '../../api/json.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Chart, type Series } from '../../parts/chart.tsx'
import { announce, confirm, SelectField, Tabs } from '../../parts/controls.tsx'
import { plain } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Text, Time } from '../../parts/text.tsx'
import { Link, navigate, setQuery, useQueryState } from '../../shell/router.tsx'
import { deleteRule, enableRule, getDeliveries, getRule, getSeries, isConflict, type Tagged, testRule } from './api.ts'
import { Alerts, Deliveries, sendDeadOf } from './found.tsx'
import { idleOf, State } from './list.tsx'
import { listAt, ownOf, saying, TARGETS, targetOf } from './model.ts'
import { type AlertSeries, networkOf, type Rule, type TestResult } from './wire.ts'

const REFRESH_MS = 5_000
const TABS = [
  { name: 'alerts', title: 'Alerts' },
  { name: 'deliveries', title: 'Deliveries' },
  { name: 'json', title: 'JSON' },
] as const

/** One rule: what it says, what it found, and what became of that. */
export const RulePage = ({ id }: { id: string }) => {
  const { data, error, again } = useAsk(`rule ${id}`, signal => getRule(id, signal))
  const [tabName] = useQueryState('tab', 'alerts')
  const tab = TABS.find(({ name }) => name === tabName)?.name ?? 'alerts'
  useEvery(REFRESH_MS, again)
  if (!data)
    return error === undefined ? (
      <Busy label="Reading the rule" />
    ) : (
      <>
        <h1>Rule</h1>
        <Fault title="The rule cannot be read" error={error} again={again} />
        <p>
          <Link to="/rules">All rules</Link>
        </p>
      </>
    )
  const { rule } = data
  const idle = idleOf(rule)
  return (
    <>
      <p class="way">
        <Link to="/rules">All rules</Link>
      </p>
      <header class="top">
        <h1>
          <Text value={rule.name.trim() === '' ? `Rule ${rule.id}` : rule.name} />
        </h1>
        <State rule={rule} />
        <Actions tagged={data} again={again} />
      </header>
      {error !== undefined && <Fault error={error} again={again} />}
      {rule.failing.length > 0 && <Failing rule={rule} again={again} />}
      {!rule.enabled && <p class="note">Paused: it finds nothing until it is resumed.</p>}
      {idle !== null && (
        <p class="note">
          It finds nothing now: <Text value={idle} />
        </p>
      )}
      {rule.warnings.slice(rule.failing.length).map(warning => (
        <p class="note" key={warning}>
          Warning: <Text value={warning} />
        </p>
      ))}
      <Facts rule={rule} />
      <Test rule={rule} />
      <Counts id={rule.id} />
      <Tabs
        label="About the rule"
        tabs={TABS}
        current={tab}
        onChange={name => setQuery({ tab: name === 'alerts' ? '' : name, state: '', open: '' })}
      >
        {tab === 'alerts' && <Alerts rule={rule} />}
        {tab === 'deliveries' && <Deliveries rule={rule} />}
        {tab === 'json' && <JsonView value={ownOf(rule)} label="The rule" />}
      </Tabs>
    </>
  )
}

/** Receivers that take nothing, and the way back once they do. */
const Failing = ({ rule, again }: { rule: Rule; again(): void }) => (
  <div class="fault" role="alert">
    {rule.failing.map(({ channel, target, since, status, error }) => (
      <p key={`${channel} ${target} ${since}`}>
        <strong>Alerts do not arrive.</strong> {channel} to <Text value={target} most={120} brief /> is failing since{' '}
        <Time value={since} />: {status !== null && !error.includes(String(status)) && `HTTP ${status}, `}
        <Text value={error} most={300} />
      </p>
    ))}
    <p>
      What was given up can be sent once more when the receiver works again:{' '}
      <button type="button" onClick={() => void sendDeadOf(rule.id).then(again)}>
        Send dead again
      </button>
    </p>
  </div>
)

const Actions = ({ tagged: { rule, etag }, again }: { tagged: Tagged; again(): void }) => {
  const [busy, setBusy] = useState(false)
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await work()
    } catch (error) {
      const text = isConflict(error)
        ? 'Somebody has changed the rule meanwhile, and nothing was done. Look at it again.'
        : messageOf(error)
      announce(plain(text), 'error')
    } finally {
      setBusy(false)
      again()
    }
  }
  const name = plain(rule.name).slice(0, 80)
  const pause = async () => {
    const waiting = await waitingOf(rule.id)
    const text = `New blocks are not matched while the rule is paused. ${waiting} You can resume the rule, but cancelled deliveries are not sent then.`
    if (!(await confirm({ title: `Pause “${name}”?`, text, action: 'Pause the rule' }))) return
    const { cancelledDeliveries: count } = await enableRule(rule.id, false, etag)
    announce(`Paused the rule. ${cancelled(count)}`)
  }
  const remove = async () => {
    const waiting = await waitingOf(rule.id)
    const text = `The rule and its alerts go, and pending alerts never fire. ${waiting} This cannot be undone.`
    if (!(await confirm({ title: `Delete “${name}”?`, text, action: 'Delete the rule' }))) return
    const count = await deleteRule(rule.id, etag)
    announce(`Deleted the rule. ${cancelled(count)}`)
    navigate('/rules')
  }
  const resume = async () => {
    await enableRule(rule.id, true, etag)
    announce('Resumed the rule.')
  }
  return (
    <div class="actions">
      <Link to={`/rules/${rule.id}/edit`} class="button">
        Edit
      </Link>
      <button type="button" disabled={busy} onClick={() => void act(rule.enabled ? pause : resume)}>
        {rule.enabled ? 'Pause' : 'Resume'}
      </button>
      <button type="button" disabled={busy} onClick={() => void act(remove)}>
        Delete
      </button>
    </div>
  )
}

/** What a pause or a deletion would cancel, in a sentence. */
const waitingOf = async (id: number): Promise<string> => {
  const { deliveries, next } = await getDeliveries({ rule: String(id), state: 'queued', size: '1000' })
  const count = deliveries.length
  if (next !== null) return `At least ${count.toLocaleString()} deliveries that wait are cancelled.`
  if (count === 0) return 'No delivery waits.'
  return count === 1
    ? '1 delivery that waits is cancelled.'
    : `${count.toLocaleString()} deliveries that wait are cancelled.`
}

const cancelled = (count: unknown): string =>
  count === undefined || count === null
    ? ''
    : `Cancelled ${Number(count).toLocaleString()} ${Number(count) === 1 ? 'delivery' : 'deliveries'}.`

const SPANS = [
  { value: '1', label: '24 hours' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
]

const Counts = ({ id }: { id: number }) => {
  const [days, setDays] = useState('1')
  const { data, error, again } = useAsk(`series ${id} ${days}`, signal => {
    const from = new Date(Date.now() - Number(days) * 86_400_000).toISOString()
    return getSeries(new URLSearchParams({ rules: String(id), from, buckets: '60' }).toString(), signal)
  })
  useEvery(REFRESH_MS * 2, again)
  const counted = data?.rules[0]
  const series = useMemo(() => data && barsOf(data), [data])
  return (
    <section aria-label="Alerts over time">
      <div class="line">
        <SelectField label="Alerts of the last" value={days} options={SPANS} onChange={setDays} />
        {counted && <p>{counted.total.toLocaleString()} in this time</p>}
      </div>
      {error !== undefined && <Fault error={error} />}
      {series && counted && counted.total > 0 && <Chart label={`${counted.total} alerts over time`} series={series} />}
    </section>
  )
}

/** The last bar has an end, too. */
const barsOf = ({ from, intervalMs, rules }: AlertSeries): Series => {
  const counts = [...(rules[0]?.counts ?? []), 0]
  return { times: counts.map((_, i) => (Date.parse(from) + i * intervalMs) / 1000), counts }
}

const firesWhen = (confirmations: Rule['maxConfirmationCount']): string => {
  if (confirmations === 0) return 'at once'
  if (typeof confirmations === 'string') return `once the block of the match is ${confirmations}`
  return `${confirmations.toLocaleString()} blocks after the match`
}

/** What a rule says, in sentences. */
export const Facts = ({ rule }: { rule: Rule }) => {
  const target = targetOf(rule)
  const description = textAt(rule, 'description')
  return (
    <dl class="facts">
      <dt>Looks at</dt>
      <dd>
        {TARGETS.find(({ type }) => type === target)?.label ?? target} of <Text value={networkOf(rule)} />
        {rule.startBlock !== null && `, from block ${rule.startBlock.toLocaleString()} on`}
      </dd>
      <dt>Conditions</dt>
      <dd>
        <ul>
          {listAt(rule, 'config.targetMap').map((condition, i) => (
            <li key={i}>
              <Text value={saying(condition)} />
            </li>
          ))}
        </ul>
      </dd>
      <dt>Fires</dt>
      <dd>
        {firesWhen(rule.maxConfirmationCount)}; has fired {rule.triggerCount.toLocaleString()}{' '}
        {rule.triggerCount === 1 ? 'time' : 'times'}
      </dd>
      <dt>Notifies</dt>
      <dd>
        <ul>
          {listAt(rule, 'config.alerts').map((action, i) => (
            <li key={i}>
              {textAt(action, 'type')}: <Text value={receiverOf(action)} />
            </li>
          ))}
        </ul>
      </dd>
      {description !== undefined && description !== '' && (
        <>
          <dt>Description</dt>
          <dd>
            <Text value={description} />
          </dd>
        </>
      )}
      <dt>Changed</dt>
      <dd>
        <Time value={rule.updatedAt} />
      </dd>
    </dl>
  )
}

/** Without what opens it: others may look over a shoulder. */
const receiverOf = (action: unknown): string => {
  if (!isObject(action as never)) return ''
  const recipients = at(action as never, 'parameters.recipients')
  if (Array.isArray(recipients)) return recipients.join(', ')
  const url = textAt(action as never, 'parameters.url') ?? ''
  try {
    const { origin, pathname } = new URL(url)
    return textAt(action as never, 'type') === 'Chat' ? origin : origin + decodeURI(pathname)
  } catch {
    return url
  }
}

interface Result {
  answer?: TestResult
  error?: unknown
}

/** Sends each alert of a stored rule once, marked as a test, and shows what the receivers answered. */
export const Test = ({ rule }: { rule: Rule }) => {
  const [{ answer, error }, setResult] = useState<Result>({})
  const [busy, setBusy] = useState(false)
  const count = listAt(rule, 'config.alerts').length
  const receivers = count === 1 ? 'its receiver' : `each of its ${count} receivers`
  const send = async () => {
    const text = `The newest document that matches goes to ${receivers}, marked as alert.test. What is sent cannot be taken back.`
    if (!(await confirm({ title: 'Send a test alert?', text, action: 'Send the test' }))) return
    setBusy(true)
    setResult(
      await testRule(rule.id)
        .then(answer => ({ answer }))
        .catch(error => ({ error })),
    )
    setBusy(false)
  }
  return (
    <section class="test" aria-label="Test of the receivers">
      <button type="button" disabled={busy} onClick={() => void send()}>
        {busy ? 'Sending …' : 'Send a test alert'}
      </button>
      {error !== undefined && <Fault title="The test failed" error={error} />}
      {answer && (
        <ul role="status">
          {answer.deliveries.map(({ action, type, target, delivered, status, error, latencyMs }) => (
            <li key={action}>
              {type} <Text value={target} />:{' '}
              <span class={delivered ? 'good' : 'bad'}>
                {delivered ? 'delivered' : 'not delivered'}
                {status !== null && `, HTTP ${status}`}
              </span>
              , {latencyMs.toLocaleString()} ms {error !== null && <Text value={error} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
