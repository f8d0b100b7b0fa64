import { useState } from 'preact/hooks'
import { channelNamed } from '../../../rules/channels.ts'
import { covers } from '../../../rules/rule.ts'
import { useAsk, useEvery, useRows } from '../../api/ask.ts'
import { callApi } from '../../api/client.ts'
import { listAt, textAt } from '../../api/json.ts'
import type { Rule, Silence, SilenceList } from '../../api/wire.ts'
import { Link, navigate } from '../../browser/router.tsx'
import { announce, announced } from '../../parts/announce.ts'
import { Await, Empty } from '../../parts/answer.tsx'
import { Aside, Button, confirm } from '../../parts/controls.tsx'
import { countText } from '../../parts/format.ts'
import { type Column, PagedList } from '../../parts/table.tsx'
import { Facts, Text, Time } from '../../parts/text.tsx'
import { getDeliveries, listRulePage } from './api.ts'
import { RuleLinks, RulesPage } from './list.tsx'
import { nameOfRule, ruleNetwork } from './model.ts'
import { SilenceDialog, type SilenceDraft, SilencedText, silencePath } from './silence-form.tsx'

const SILENCES_PAGE = '/rules/silences'
const SILENCES_REFRESH_MS = 10_000

const STATE_WORDS: Record<Silence['state'], readonly [word: string, tone: string]> = {
  active: ['Active', 'warn'],
  waiting: ['Coming', ''],
  over: ['Over', ''],
}
const STATE_ORDER = Object.keys(STATE_WORDS)

/** Silences of the account, and the open one. */
export const SilencesPage = ({ open }: { open: string | undefined }) => {
  const inOrder = ({ silences }: SilenceList) =>
    silences.toSorted((a, b) => STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state))
  const pages = useRows('alerting/silences/', inOrder, SILENCES_REFRESH_MS)
  const rules = useAsk('rules by name', signal => listRulePage(undefined, signal)).data?.rules ?? []
  const [draft, setDraft] = useState<SilenceDraft>()
  const create = <Button class="main" label="Create a silence" onClick={() => setDraft({ matcher: {} })} />
  const opened = pages.rows.find(({ id }) => String(id) === open)
  return (
    <RulesPage current={SILENCES_PAGE} actions={create}>
      <PagedList
        {...{
          pages,
          open,
          label: 'Silences',
          what: 'the silences',
          columns: silenceColumns(rules).slice(0, open === undefined ? 6 : 3),
        }}
        empty={<NoSilences />}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => navigate(`${SILENCES_PAGE}/${id}`, { replace: open !== undefined })}
      >
        {open !== undefined && pages.data !== undefined && (
          <OneSilence key={open} silence={opened} rules={rules} onDraft={setDraft} onChanged={pages.again} />
        )}
      </PagedList>
      {draft && (
        <SilenceDialog
          {...{ draft, rules }}
          onClose={() => setDraft(undefined)}
          done={({ id }) => {
            pages.again()
            navigate(`${SILENCES_PAGE}/${id}`, { replace: open !== undefined })
          }}
        />
      )}
    </RulesPage>
  )
}

const NoSilences = () => (
  <Empty title="Nothing is silenced">
    <p>
      A silence keeps alerts from being sent for a time, such as during an upgrade. They are found and listed all the
      same.
    </p>
  </Empty>
)

const silenceColumns = (rules: readonly Rule[]): readonly Column<Silence>[] => [
  { title: 'State', width: '9ch', cell: ({ state }) => <StatePill state={state} /> },
  {
    ...{ title: 'Silences', width: 'minmax(18ch, 2fr)', isMain: true },
    cell: ({ id, matcher }) => (
      <Link to={`${SILENCES_PAGE}/${id}`}>
        <SilencedText matcher={matcher} rules={rules} />
      </Link>
    ),
  },
  { title: 'Until', width: '21ch', cell: ({ to }) => <Time value={to} brief /> },
  { title: 'From', width: '21ch', cell: ({ from }) => <Time value={from} brief /> },
  { title: 'Reason', width: 'minmax(14ch, 2fr)', cell: ({ reason }) => <Text value={reason} brief /> },
  { title: 'By', width: '12ch', cell: ({ author }) => <Text value={author} most={40} brief /> },
]

const StatePill = ({ state }: Pick<Silence, 'state'>) => {
  const [word, tone] = STATE_WORDS[state]
  return <span class={`pill ${tone}`}>{word}</span>
}

interface OneSilenceProps {
  /** Undefined where there is none. */
  silence: Silence | undefined
  rules: readonly Rule[]
  onDraft(draft: SilenceDraft): void
  onChanged(): void
}

const OneSilence = ({ silence, rules, onDraft, onChanged }: OneSilenceProps) => {
  const close = () => navigate(SILENCES_PAGE)
  if (!silence)
    return (
      <Aside what="silence" title="Silence" onClose={close}>
        <p>There is no such silence. It may have been ended, or be over for more than 30 days.</p>
      </Aside>
    )
  const { id, matcher, from, to, reason, author, createdAt, state } = silence
  const isOver = state === 'over'
  const end = async () => {
    const asked = isOver
      ? { title: 'Remove the silence?', text: 'It goes from this list.', action: 'Remove the silence' }
      : {
          ...{ title: 'End the silence?', action: 'End the silence' },
          text: 'Alerts are sent again from now on. What it kept back is not sent. It goes from this list.',
        }
    if (!(await confirm(asked))) return
    const isDone = await announced(async () => {
      await callApi(silencePath(id), { method: 'DELETE' })
      announce(isOver ? 'Removed the silence.' : 'Ended the silence.')
    })
    if (!isDone) return
    onChanged()
    close()
  }
  const times = { from: Date.parse(from), to: Date.parse(to) }
  const change = () => onDraft(isOver ? { matcher, reason } : { matcher, reason, ...times, id })
  const facts = {
    Silences: <SilencedText matcher={matcher} rules={rules} whole />,
    Rules: matcher.rules && (
      <RuleLinks of={matcher.rules.map(id => rules.find(it => it.id === id) ?? { id, name: '' })} none="" />
    ),
    From: <Time value={from} due />,
    Until: <Time value={to} due />,
    By: <Text value={author} most={80} />,
    Created: <Time value={createdAt} />,
  }
  return (
    <Aside what="silence" title={`Silence ${id}`} onClose={close}>
      <p>
        <StatePill state={state} />
      </p>
      <p>
        <Text value={reason} most={1_000} />
      </p>
      <Facts of={facts} />
      {state !== 'waiting' && <KeptBack silence={silence} rules={rules} />}
      <p class="actions">
        <Button label={isOver ? 'Silence again' : 'Change'} onClick={change} />
        <Button class={isOver ? 'link' : ''} label={isOver ? 'Remove' : 'End now'} onClick={end} />
      </p>
    </Aside>
  )
}

/** Deliveries that were not sent, by rule. */
const KeptBack = ({ silence: { id, to }, rules }: { silence: Silence; rules: readonly Rule[] }) => {
  const query = { state: 'silenced', until: to, size: '1000' }
  const asked = useAsk(`kept back by ${id} until ${to}`, signal => getDeliveries(query, signal))
  useEvery(SILENCES_REFRESH_MS, asked.again)
  return (
    <Await asked={asked} failed="What it kept back cannot be read" busy="Counting what it kept back">
      {({ deliveries, next }) => {
        const own = Map.groupBy(
          deliveries.filter(({ silence }) => silence === id),
          ({ rule }) => rule,
        )
        const total = [...own.values()].reduce((sum, { length }) => sum + length, 0)
        return (
          <>
            <h3>Kept back</h3>
            <p>
              {total === 0 ? 'No deliveries' : countText(total, 'delivery', 'deliveries')}
              {next !== null && ' among the newest 1,000'}
              {total === 0 ? '.' : ':'}
            </p>
            <ul class="plain">
              {[...own].map(([rule, { length }]) => (
                <li key={rule}>
                  {length.toLocaleString()} of{' '}
                  <Link to={`/rules/${rule}?tab=deliveries&state=silenced`}>
                    <Text
                      value={nameOfRule(rules.find(it => it.id === rule) ?? { id: rule, name: '' })}
                      most={60}
                      brief
                    />
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )
      }}
    </Await>
  )
}

/** What keeps alerts of a rule from being sent now. */
export const SilencesOf = ({ rule, silences }: { rule: Rule; silences: readonly Silence[] }) => (
  <>
    {silences
      .filter(({ state, matcher }) => state === 'active' && mayCover(matcher, rule))
      .map(({ id, matcher, to, reason, author }) => (
        <p class="notice" key={id}>
          {coversAll(matcher, rule) ? 'Silenced' : 'Some alerts are silenced'} until <Time value={to} due /> by{' '}
          <Text value={author} most={40} brief />: <Text value={reason} most={200} brief />.{' '}
          <Link to={`${SILENCES_PAGE}/${id}`}>Show the silence</Link>
        </p>
      ))}
  </>
)

const mayCover = ({ rules, network, channel, labels = {} }: Silence['matcher'], rule: Rule): boolean =>
  (rules === undefined || rules.includes(rule.id)) &&
  (network === undefined || covers(network, ruleNetwork(rule)) || covers(ruleNetwork(rule), network)) &&
  (channel === undefined || listAt(rule, 'config.alerts').some(it => channelNamed(textAt(it, 'type')) === channel)) &&
  Object.entries(labels).every(([name, value]) => String(rule[name]) === value)

const coversAll = ({ network, channel, fields }: Silence['matcher'], rule: Rule): boolean =>
  (network === undefined || covers(network, ruleNetwork(rule))) && channel === undefined && fields === undefined
