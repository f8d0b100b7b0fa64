import { useMemo, useState } from 'preact/hooks'
import { useAction, useAsk, useEvery, useGet } from '../../api/ask.ts'
import { messageOf } from '../../api/client.ts'
import { listAt, textAt } from '../../api/json.ts'
import type { AlertSeries, Rule, SilenceList, TestResultAnswer } from '../../api/wire.ts'
import { Link, navigate, setQuery, useQueryState } from '../../browser/router.tsx'
import { announce } from '../../parts/announce.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Chart, type Series } from '../../parts/chart.tsx'
import { Button, confirm, Select } from '../../parts/controls.tsx'
import { countText, visibleText } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Menu, Tabs } from '../../parts/menu.tsx'
import { PageHead, say, Text, Time } from '../../parts/text.tsx'
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
import { nameOfRule, ownOf } from './model.ts'
import { RuleSentence } from './sentence.tsx'
import { SilenceDialog } from './silence-form.tsx'
import { SilencesOf } from './silences.tsx'

const RULE_REFRESH_MS = 5_000

/** One rule with its alerts and deliveries. */
export const RulePageAnswer = ({ id }: { id: string }) => {
  const { data, error, again } = useAsk(`rule ${id}`, signal => getRule(id, signal))
  const [tab] = useQueryState('tab', 'alerts')
  const test = useAction(() => sendRuleTest(data!.rule.id))
  const silences = useGet<SilenceList>('alerting/silences/')
  useEvery(RULE_REFRESH_MS, () => {
    again()
    silences.again()
  })
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
  const description = textAt(rule, 'description')
  return (
    <>
      <p class="way">
        <Link to="/rules">All rules</Link>
      </p>
      <PageHead title={<Text value={nameOfRule(rule)} />}>
        <RuleState rule={rule} />
        <Actions tagged={data} test={test} again={again} silenced={silences.again} />
      </PageHead>
      {error !== undefined && <Fault error={error} again={again} />}
      {rule.failing.length > 0 && <Failing rule={rule} again={again} />}
      {!rule.enabled && <p class="notice">Paused: it finds nothing until it is resumed.</p>}
      {idle !== null && <p class="notice">{say`It finds nothing now: ${<Text value={idle} />}`}</p>}
      <SilencesOf rule={rule} silences={silences.data?.silences ?? []} />
      <Warnings of={rule.warnings.slice(rule.failing.length)} />
      <RuleSentence rule={rule} />
      <p class="dim">
        Fired {countText(rule.triggerCount, 'time')}
        {rule.startBlock !== null && `, from block ${rule.startBlock.toLocaleString()} on`}. Changed{' '}
        <Time value={rule.updatedAt} />.
      </p>
      {description && (
        <p>
          <Text value={description} />
        </p>
      )}
      <TestOutcome {...test} />
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
    <Button label="Send dead again" onClick={() => sendDeadOf(rule.id).then(again)} /> once the receiver works.
  </div>
)

interface ActionsProps {
  tagged: Tagged
  test: TestAction
  again(): void
  silenced(): void
}

type TestAction = ReturnType<typeof useAction<TestResultAnswer>>

const Actions = ({ tagged: { rule, etag }, test, again, silenced }: ActionsProps) => {
  const [busy, setBusy] = useState(false)
  const [isSilencing, setSilencing] = useState(false)
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
  const sendTest = async () => {
    const { length } = listAt(rule, 'config.alerts')
    const receivers = length === 1 ? 'its receiver' : `each of its ${length} receivers`
    const text = `The newest document that matches goes to ${receivers}, marked as alert.test. What is sent cannot be taken back.`
    if (await confirm({ title: 'Send a test alert?', text, action: 'Send the test' })) await test.run()
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
          { title: 'Send a test alert', disabled: test.busy, run: sendTest },
          { title: 'Silence', run: () => setSilencing(true) },
          {
            ...{ title: rule.enabled ? 'Pause' : 'Resume', disabled: busy },
            run: () => act(rule.enabled ? pause : resume),
          },
          { title: 'Delete', disabled: busy, run: () => act(remove) },
        ]}
      />
      {isSilencing && (
        <SilenceDialog
          draft={{ matcher: { rules: [rule.id] } }}
          named={[rule]}
          onClose={() => setSilencing(false)}
          done={silenced}
        />
      )}
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

/** What each receiver answered to a test. */
const TestOutcome = ({ data: answer, error, busy }: TestAction) => (
  <div role="status" class="test">
    {busy && <Busy label="Sending the test" />}
    {error !== undefined && <Fault title="The test failed" error={error} />}
    {answer?.deliveries.map(({ action, type, target, delivered, status, error, latencyMs }) => (
      <p key={action}>
        Test: {type} <Text value={target} />:{' '}
        <span class={delivered ? 'good' : 'bad'}>
          {delivered ? 'delivered' : 'not delivered'}
          {status !== null && `, HTTP ${status}`}
        </span>
        , {latencyMs.toLocaleString()} ms {error !== null && <Text value={error} />}
      </p>
    ))}
  </div>
)

const COUNT_SPANS = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
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
      <p class="actions">
        <Select aria-label="Time of the counted alerts" value={days} options={COUNT_SPANS} onChange={setDays} />
        {counted && countText(counted.total, 'alert')}
      </p>
      {error !== undefined && <Fault error={error} />}
      {series && counted && counted.total > 0 && <Chart label={`${counted.total} alerts over time`} series={series} />}
    </section>
  )
}

const seriesBars = ({ from, intervalMs, rules }: AlertSeries): Series => {
  const counts = [...(rules[0]?.counts ?? []), 0]
  return { times: counts.map((_, i) => (Date.parse(from) + i * intervalMs) / 1000), counts }
}
