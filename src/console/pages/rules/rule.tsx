import { useMemo, useState } from 'preact/hooks'
import { useAction, useAsk, useEvery } from '../../api/ask.ts'
import { messageOf } from '../../api/client.ts'
import { listAt, textAt } from '../../api/json.ts'
import type { AlertSeries, Rule } from '../../api/wire.ts'
import { Link, navigate, setQuery, useQueryState } from '../../browser/router.tsx'
import { announce } from '../../parts/announce.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Chart, type Series } from '../../parts/chart.tsx'
import { Button, confirm, SelectField } from '../../parts/controls.tsx'
import { countText, visibleText } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Menu, Tabs } from '../../parts/menu.tsx'
import { Facts, PageHead, say, Text, Time } from '../../parts/text.tsx'
import { Alerts } from './alerts.tsx'
import {
  deleteRule,
  enableRule,
  getDeliveries,
  getRule,
  getSeries,
  isConflict,
  sendRuleTest,
  type Tagged,
} from './api.ts'
import { Deliveries, sendDeadOf } from './deliveries.tsx'
import { idleOf, RuleState } from './list.tsx'
import { ownOf, receiverOf, ruleNetwork, saying, TARGETS, targetOf } from './model.ts'

const RULE_REFRESH_MS = 5_000

/** One rule with its alerts and deliveries. */
export const RulePageAnswer = ({ id }: { id: string }) => {
  const { data, error, again } = useAsk(`rule ${id}`, signal => getRule(id, signal))
  const [tab] = useQueryState('tab', 'alerts')
  useEvery(RULE_REFRESH_MS, again)
  if (!data && error === undefined) return <Busy label="Reading the rule" />
  if (!data)
    return (
      <>
        <PageHead title="Rule" />
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
      <PageHead title={<Text value={rule.name.trim() === '' ? `Rule ${rule.id}` : rule.name} />}>
        <RuleState rule={rule} />
        <span class="spring" />
        <Actions tagged={data} again={again} />
      </PageHead>
      {error !== undefined && <Fault error={error} again={again} />}
      {rule.failing.length > 0 && <Failing rule={rule} again={again} />}
      {!rule.enabled && <p class="notice">Paused: it finds nothing until it is resumed.</p>}
      {idle !== null && <p class="notice">{say`It finds nothing now: ${<Text value={idle} />}`}</p>}
      <Warnings of={rule.warnings.slice(rule.failing.length)} />
      <Facts of={factsOf(rule)} />
      <RuleTest rule={rule} />
      <AlertCountsSection id={rule.id} />
      <Tabs
        label="About the rule"
        tabs={[
          { name: 'alerts', title: 'Alerts', show: () => <Alerts rule={rule} /> },
          { name: 'deliveries', title: 'Deliveries', show: () => <DeliveriesOf rule={rule.id} /> },
          { name: 'json', title: 'JSON', show: () => <JsonView value={ownOf(rule)} label="The rule" /> },
        ]}
        current={tab}
        onChange={name => setQuery({ tab: name === 'alerts' ? '' : name, state: '', open: '' })}
      />
    </>
  )
}

const DeliveriesOf = ({ rule }: { rule: number }) => (
  <Deliveries of={{ rule: String(rule) }}>
    {again => <Button label="Send all dead again" onClick={() => sendDeadOf(rule).then(again)} />}
  </Deliveries>
)

export const Warnings = ({ of }: { of: readonly string[] }) => (
  <>
    {of.map(warning => (
      <p class="notice" key={warning}>{say`Warning: ${<Text value={warning} />}`}</p>
    ))}
  </>
)

/** Failing receivers, with redelivery once they work. */
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
      <Button label="Send dead again" onClick={() => sendDeadOf(rule.id).then(again)} />
    </p>
  </div>
)

const factsOf = (rule: Rule) => {
  const target = targetOf(rule)
  const list = (texts: readonly string[]) => (
    <ul>
      {texts.map((text, i) => (
        <li key={i}>
          <Text value={text} />
        </li>
      ))}
    </ul>
  )
  const description = textAt(rule, 'description')
  return {
    'Looks at': (
      <>
        {TARGETS.find(({ type }) => type === target)?.label ?? target} of <Text value={ruleNetwork(rule)} />
        {rule.startBlock !== null && `, from block ${rule.startBlock.toLocaleString()} on`}
      </>
    ),
    Conditions: list(listAt(rule, 'config.targetMap').map(saying)),
    Fires: `${firesWhen(rule.maxConfirmationCount)}; has fired ${countText(rule.triggerCount, 'time')}`,
    Notifies: list(listAt(rule, 'config.alerts').map(it => `${textAt(it, 'type')}: ${receiverOf(it)}`)),
    Description: description && <Text value={description} />,
    Changed: <Time value={rule.updatedAt} />,
  }
}

const firesWhen = (confirmations: Rule['maxConfirmationCount']): string => {
  if (confirmations === 0) return 'at once'
  if (typeof confirmations === 'string') return `once the block of the match is ${confirmations}`
  return `${confirmations.toLocaleString()} blocks after the match`
}

const Actions = ({ tagged: { rule, etag }, again }: { tagged: Tagged; again(): void }) => {
  const [busy, setBusy] = useState(false)
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await work()
    } catch (error) {
      const text = isConflict(error)
        ? 'Somebody else has changed the rule, and nothing was done. Look at it again.'
        : messageOf(error)
      announce(visibleText(text), 'error')
    } finally {
      setBusy(false)
      again()
    }
  }
  const name = visibleText(rule.name).slice(0, 80)
  const pause = async () => {
    const waiting = await waitingOf(rule.id)
    const text = `New blocks are not matched while the rule is paused. ${waiting} You can resume the rule, but cancelled deliveries are not sent then.`
    if (!(await confirm({ title: `Pause “${name}”?`, text, action: 'Pause the rule' }))) return
    const { cancelledDeliveries } = await enableRule(rule.id, false, etag)
    announce(`Paused the rule. ${cancelled(cancelledDeliveries)}`)
  }
  const remove = async () => {
    const waiting = await waitingOf(rule.id)
    const text = `The rule and its alerts go, and pending alerts never fire. ${waiting} This cannot be undone.`
    if (!(await confirm({ title: `Delete “${name}”?`, text, action: 'Delete the rule' }))) return
    announce(`Deleted the rule. ${cancelled(await deleteRule(rule.id, etag))}`)
    navigate('/rules')
  }
  const resume = async () => {
    await enableRule(rule.id, true, etag)
    announce('Resumed the rule.')
  }
  return (
    <div class="actions">
      <Link to={`/rules/${rule.id}/edit`} class="button main">
        Edit
      </Link>
      <Menu
        class="icon"
        name="More actions"
        label={<Icon name="more" />}
        items={[
          {
            ...{ title: rule.enabled ? 'Pause' : 'Resume', disabled: busy },
            run: () => act(rule.enabled ? pause : resume),
          },
          { title: 'Delete', disabled: busy, run: () => act(remove) },
        ]}
      />
    </div>
  )
}

/** Sentence about deliveries that a pause or deletion cancels. */
const waitingOf = async (id: number): Promise<string> => {
  const { deliveries, next } = await getDeliveries({ rule: String(id), state: 'queued', size: '1000' })
  const { length } = deliveries
  if (next !== null) return `At least ${length.toLocaleString()} deliveries that wait are cancelled.`
  if (length === 0) return 'No delivery waits.'
  return `${countText(length, 'delivery that waits is', 'deliveries that wait are')} cancelled.`
}

const cancelled = (number: unknown): string =>
  number === undefined || number === null ? '' : `Cancelled ${countText(Number(number), 'delivery', 'deliveries')}.`

/** Sends a test of each action and shows the results. */
export const RuleTest = ({ rule }: { rule: Rule }) => {
  const { data: answer, error, busy, run } = useAction(() => sendRuleTest(rule.id))
  const { length } = listAt(rule, 'config.alerts')
  const receivers = length === 1 ? 'its receiver' : `each of its ${length} receivers`
  const send = async () => {
    const text = `The newest document that matches goes to ${receivers}, marked as alert.test. What is sent cannot be taken back.`
    if (await confirm({ title: 'Send a test alert?', text, action: 'Send the test' })) await run()
  }
  return (
    <section class="test" aria-label="Test of the receivers">
      <Button label={busy ? 'Sending …' : 'Send a test alert'} disabled={busy} onClick={send} />
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

const COUNT_SPANS = [
  { value: '1', label: '24 hours' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
]

const AlertCountsSection = ({ id }: { id: number }) => {
  const [days, setDays] = useState('1')
  const { data, error, again } = useAsk(`series ${id} ${days}`, signal => {
    const from = new Date(Date.now() - Number(days) * 86_400_000).toISOString()
    return getSeries({ rules: String(id), from, buckets: '60' }, signal)
  })
  useEvery(RULE_REFRESH_MS * 2, again)
  const counted = data?.rules[0]
  const series = useMemo(() => data && seriesBars(data), [data])
  return (
    <section aria-label="Alerts over time">
      <div class="line">
        <SelectField label="Alerts of the last" value={days} options={COUNT_SPANS} onChange={setDays} />
        {counted && <p>{counted.total.toLocaleString()} in this time</p>}
      </div>
      {error !== undefined && <Fault error={error} />}
      {series && counted && counted.total > 0 && <Chart label={`${counted.total} alerts over time`} series={series} />}
    </section>
  )
}

const seriesBars = ({ from, intervalMs, rules }: AlertSeries): Series => {
  const counts = [...(rules[0]?.counts ?? []), 0]
  return { times: counts.map((_, i) => (Date.parse(from) + i * intervalMs) / 1000), counts }
}
