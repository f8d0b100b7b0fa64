import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useAsk, useEvery, useGet, usePages } from '../../api/ask.ts'
import type { Rule, SeriesOfRule, Status } from '../../api/wire.ts'
import { Link, navigate, useQueryState } from '../../browser/router.tsx'
import { Await, Empty } from '../../parts/answer.tsx'
import { Bars } from '../../parts/chart.tsx'
import { countText } from '../../parts/format.ts'
import { Tabs } from '../../parts/menu.tsx'
import { type Column, PagedList } from '../../parts/table.tsx'
import { PageHead, say, Text, Time } from '../../parts/text.tsx'
import { getSeries, listRulePage } from './api.ts'
import { DEMO_NETWORK, nameOfRule, OFFERS, ruleNetwork } from './model.ts'

const LIST_REFRESH_MS = 10_000
/** Rules per request for counts: their ids are in the address. */
const MAX_COUNTED_RULES = 500

/** Rules of the account with state and recent alerts. */
export const RuleList = () => {
  const ask = async (after: string | undefined, signal: AbortSignal) => {
    const { rules, next } = await listRulePage(after, signal)
    return { rows: rules, next }
  }
  const rules = usePages('rules', ask, LIST_REFRESH_MS)
  // The filter needs all pages.
  useEffect(rules.askMore, [rules.rows.length, rules.busy])
  const [typed, setTyped] = useQueryState('find')
  const found = rules.rows.filter(rule => isNamed(rule, typed))
  const ids = found.slice(0, MAX_COUNTED_RULES).map(({ id }) => id)
  const series = useAsk(ids.length > 0 ? `series ${ids}` : undefined, signal =>
    getSeries({ rules: ids.join() }, signal),
  )
  useEvery(LIST_REFRESH_MS, series.again)
  const counts = new Map(series.data?.rules.map(it => [it.id, it]))
  const actions = (
    <>
      <input
        type="search"
        aria-label="Find a rule"
        placeholder="Name or network"
        value={typed}
        onInput={event => setTyped(event.currentTarget.value, { replace: true })}
      />
      <Link to="/rules/new" class="button main">
        Create a rule
      </Link>
    </>
  )
  return (
    <RulesPage current="/rules" actions={actions}>
      <Await asked={series} failed="The counts cannot be read" />
      {rules.isWhole && rules.rows.length > 0 && found.length === 0 && (
        <Empty title="No rule has this name or network" />
      )}
      {found.length > 0 && (
        <p class="dim">{countText(found.length, 'rule')}. Counts are alerts of the last 24 hours.</p>
      )}
      <PagedList
        {...{ pages: rules, rows: found, label: 'Rules', what: 'the rules', empty: <NoRules /> }}
        columns={ruleColumns(counts)}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => navigate(`/rules/${id}`)}
      />
    </RulesPage>
  )
}

interface RulesPageProps {
  current: '/rules' | '/rules/lists' | '/rules/silences'
  actions: ComponentChildren
  children: ComponentChildren
}

/** Rules, or what they use, with the way to the others. */
export const RulesPage = ({ current, actions, children }: RulesPageProps) => {
  const show = () => children
  const tabs = [
    { name: '/rules', title: 'Rules', show },
    { name: '/rules/lists', title: 'Watch lists', show },
    { name: '/rules/silences', title: 'Silences', show },
  ]
  return (
    <>
      <PageHead title="Rules">{actions}</PageHead>
      <Tabs label="Rules and what they use" tabs={tabs} current={current} onChange={to => navigate(to)} />
    </>
  )
}

const NAMED_RULES = 3

/** Links to the first of some rules, and how many more there are. */
export const RuleLinks = ({ of, none }: { of: readonly Pick<Rule, 'id' | 'name'>[]; none: string }) => {
  if (of.length === 0) return <span class="dim">{none}</span>
  const more = of.length - NAMED_RULES
  return (
    <>
      {of.slice(0, NAMED_RULES).map(({ id, name }, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <Link to={`/rules/${id}`}>
            <Text value={nameOfRule({ id, name })} most={40} brief />
          </Link>
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  )
}

const isNamed = (rule: Rule, typed: string) =>
  `${rule.name} ${ruleNetwork(rule)}`.toLowerCase().includes(typed.trim().toLowerCase())

const ruleColumns = (counts: ReadonlyMap<number, SeriesOfRule>): readonly Column<Rule>[] => [
  { title: 'State', width: '9ch', cell: rule => <RuleState rule={rule} /> },
  {
    title: 'Name',
    isMain: true,
    width: 'minmax(16ch, 2fr)',
    cell: ({ id, name }) => (
      <Link to={`/rules/${id}`}>
        <Text value={nameOfRule({ id, name })} most={80} brief />
      </Link>
    ),
  },
  { title: 'Last 24 hours', width: '15ch', cell: ({ id }) => <Counts series={counts.get(id)} /> },
  { title: 'Network', width: 'minmax(22ch, 1fr)', cell: rule => <Text value={ruleNetwork(rule)} brief /> },
  {
    title: 'Last alert',
    width: '21ch',
    cell: ({ id }) => {
      const last = counts.get(id)?.lastAlert
      return last && <Time value={last.receivedAt} brief />
    },
  },
  { title: 'Why', width: 'minmax(16ch, 3fr)', cell: rule => <WhyOfState rule={rule} /> },
]

const WhyOfState = ({ rule }: { rule: Rule }) => {
  const [first] = rule.failing
  const why = [idleOf(rule), ...rule.warnings.slice(rule.failing.length)].filter(Boolean).join(' ')
  if (first === undefined || !rule.enabled) return <Text value={why} most={300} brief />
  return say`failing since ${<Time value={first.since} brief />}: ${<Text value={first.error} most={300} brief />}`
}

const Counts = ({ series }: { series: SeriesOfRule | undefined }) =>
  series ? (
    <span class="counts">
      <Bars counts={series.counts} label={`${series.last24h} alerts in the last 24 hours`} />
      {series.last24h.toLocaleString()}
    </span>
  ) : null

/** State in one word and colour. */
export const RuleState = ({ rule: { enabled, idle, failing, warnings } }: { rule: Rule }) => {
  if (!enabled) return <span class="pill">Paused</span>
  if (failing.length > 0) return <span class="pill bad">Failing</span>
  if (idle !== null) return <span class="pill warn">Waiting</span>
  if (warnings.length > 0) return <span class="pill warn">Warning</span>
  return <span class="pill good">Working</span>
}

/** Warnings; a paused rule shows a button instead. */
export const idleOf = ({ enabled, idle }: Rule): string | null =>
  !enabled && idle?.startsWith('it is paused') ? null : idle

const NoRules = () => {
  const status = useGet<Status>('status')
  return (
    <Empty title="There is no rule yet">
      <p>
        A rule names what you want to know of, and whom to notify: by webhook, email or chat. While you write it, you
        see what it would have found.
      </p>
      <p>
        <Link to="/rules/new">Create a rule</Link>
      </p>
      {status.data?.networks.some(({ network }) => network === DEMO_NETWORK) && (
        <>
          <p>Two rules to try on the demo chain:</p>
          <ul>
            {OFFERS.map(({ name, what }) => (
              <li key={name}>
                <Link to={`/rules/new?offer=${name}`}>{what}</Link>
              </li>
            ))}
          </ul>
          <p class="dim">
            They notify <code>chainsieve receive</code>. Start the server with <code>--allow-target 127.0.0.1/32</code>{' '}
            to let it send there.
          </p>
        </>
      )}
    </Empty>
  )
}
