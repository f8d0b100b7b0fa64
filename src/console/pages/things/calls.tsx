import { useContext, useRef, useState } from 'preact/hooks'
import { useGet } from '../../api/ask.ts'
import { documentPath } from '../../api/client.ts'
import { textAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import { Await } from '../../parts/answer.tsx'
import { Button, CheckField } from '../../parts/controls.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Coins, NetworkContext, RoomContext, say, Text } from '../../parts/text.tsx'
import type { ExecutionStep } from './read.ts'
import { AddressLink, Args, ArgumentValue, argumentName, briefOf, ifPresent, NamedValues, RawBytes } from './values.tsx'

interface CallTreeProps {
  steps: readonly ExecutionStep[]
  /** Path of the call that the failure began in. */
  began: string | undefined
}

const pathText = ({ path }: ExecutionStep): string => path.join('.')
/** Keys of the calls around a call. */
const parentsOf = ({ path }: ExecutionStep): string[] => path.map((_, i) => path.slice(0, i).join('.'))

const toggled = (keys: ReadonlySet<string>, key: string): ReadonlySet<string> => {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return next
}

/** Calls as a tree: arrow keys walk through it, Enter or a click opens a call. */
export const CallTree = ({ steps, began }: CallTreeProps) => {
  const list = useRef<HTMLDivElement>(null)
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [isFailedOnly, setFailedOnly] = useState(false)
  const [at, setAt] = useState('')
  const failed = steps.filter(({ error }) => error !== undefined)
  const wanted = new Set(failed.flatMap(step => [pathText(step), ...parentsOf(step)]))
  const parents = new Set(steps.flatMap(step => parentsOf(step).slice(-1)))
  const shown = steps.filter(
    step => !parentsOf(step).some(key => closed.has(key)) && (!isFailedOnly || wanted.has(pathText(step))),
  )
  const whole = steps[0]?.gasUsed
  const goTo = (index: number) => {
    const row = list.current!.children[Math.min(Math.max(index, 0), shown.length - 1)]
    if (row instanceof HTMLElement) row.focus()
  }
  const onKeyDown = (event: KeyboardEvent, step: ExecutionStep, index: number) => {
    // Links and buttons in rows handle their own keys.
    if (event.target !== event.currentTarget) return
    const key = pathText(step)
    const isShut = closed.has(key)
    const fold = () => setClosed(toggled(closed, key))
    const acts: Record<string, () => void> = {
      ArrowDown: () => goTo(index + 1),
      ArrowUp: () => goTo(index - 1),
      Home: () => goTo(0),
      End: () => goTo(shown.length - 1),
      ArrowRight: () => (isShut ? fold() : parents.has(key) && goTo(index + 1)),
      ArrowLeft: () =>
        parents.has(key) && !isShut ? fold() : goTo(shown.findIndex(it => pathText(it) === parentsOf(step).at(-1))),
      Enter: () => setOpen(toggled(open, key)),
      ' ': () => setOpen(toggled(open, key)),
    }
    if (!Object.hasOwn(acts, event.key)) return
    event.preventDefault()
    event.stopPropagation()
    acts[event.key]!()
  }

  return (
    <>
      {steps.length > 1 && (
        <p class="actions">
          <Button class="quiet" label="Expand all" onClick={() => setClosed(new Set())} />
          <Button class="quiet" label="Collapse all" onClick={() => setClosed(new Set([...parents].filter(Boolean)))} />
          {failed.length > 0 && <CheckField label="Failed only" checked={isFailedOnly} onChange={setFailedOnly} />}
        </p>
      )}
      <div ref={list} class="calls" role="tree" aria-label="Calls">
        {shown.map((step, i) => {
          const key = pathText(step)
          const isParent = parents.has(key)
          return (
            <div
              key={key}
              role="treeitem"
              class={step.error !== undefined ? 'failed' : step.isUndone ? 'undone' : undefined}
              aria-level={step.path.length + 1}
              aria-expanded={isParent ? !closed.has(key) : undefined}
              tabIndex={key === at ? 0 : -1}
              style={{ '--depth': Math.min(step.path.length, MAX_INDENT), '--gas': (step.gasUsed ?? 0) / (whole || 1) }}
              onFocus={() => setAt(key)}
              onKeyDown={event => onKeyDown(event, step, i)}
            >
              <CallLine
                {...{ step, isBeginning: key === began }}
                onFold={isParent ? () => setClosed(toggled(closed, key)) : undefined}
                onOpen={() => setOpen(toggled(open, key))}
              />
              {open.has(key) && <CallDetails step={step} />}
            </div>
          )
        })}
      </div>
    </>
  )
}

const MAX_INDENT = 16
const TYPE_NAMES: Record<string, string> = { suicide: 'self-destruct' }

interface LineProps {
  step: ExecutionStep
  isBeginning: boolean
  onFold: (() => void) | undefined
  onOpen(): void
}

const CallLine = ({ step, isBeginning, onFold, onOpen }: LineProps) => {
  const { type, to, value, method, selector, args, gasUsed, error, isUndone } = step
  const called = method ?? selector
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: its row handles Enter
    // biome-ignore lint/a11y/noStaticElementInteractions: its row is focused
    <div class="call" onClick={event => !(event.target as Element).closest('a, button') && onOpen()}>
      <span class="twig">
        {onFold && (
          <button type="button" tabIndex={-1} aria-hidden="true" onClick={onFold}>
            <Icon name="down" />
          </button>
        )}
      </span>
      <span class="called">
        {type !== 'call' && <span class="pill">{TYPE_NAMES[type] ?? type}</span>} <AddressLink value={to} bare />
        {called !== undefined && say`.${<strong>{briefOf(called, 80)}</strong>}(${<BriefArgs args={args} />})`}{' '}
        {ifPresent(value, it => it > 0n && <Coins value={it} brief />)}
        {error !== undefined && (
          <span class="bad">
            {' '}
            {isBeginning ? 'failed, and the failure began here' : 'failed'}: <Text value={error} most={120} brief />
          </span>
        )}
        {error === undefined && isUndone && <span class="dim"> reverted, as a call around it failed</span>}
      </span>
      {ifPresent(gasUsed, it => (
        <span class="gas">{it.toLocaleString()} gas</span>
      ))}
    </div>
  )
}

const MOST_ARGS = 6

const BriefArgs = ({ args }: Pick<ExecutionStep, 'args'>) => (
  <span class="brief-args">
    {args.slice(0, MOST_ARGS).map((argument, i) => (
      <span key={i}>
        {i > 0 && ', '}
        <span class="dim">{briefOf(argumentName(argument, i), 30)}=</span>
        <ArgumentValue argument={argument} brief />
      </span>
    ))}
    {args.length > MOST_ARGS && ', …'}
  </span>
)

const CallDetails = ({ step: { from, to, type, value, args, error, traceId } }: Pick<LineProps, 'step'>) => (
  <div class="call-details">
    <RoomContext.Provider value>
      <NamedValues
        of={[
          [type === 'create' ? 'Creator' : 'Caller', <AddressLink key="from" value={from} />],
          [type === 'create' ? 'New contract' : 'Called', <AddressLink key="to" value={to} />],
          ...(value !== undefined && value > 0n ? ([['Value', <Coins key="value" value={value} />]] as const) : []),
          ...(error === undefined
            ? []
            : ([['Failed', <span key="error" class="bad" children={<Text value={error} />} />]] as const)),
        ]}
      />
      <Args args={args} of={to} />
    </RoomContext.Provider>
    {traceId !== undefined && <InputAndOutput id={traceId} />}
  </div>
)

const TRACE_BYTES: readonly [name: string, path: string][] = [
  ['Input', 'action.input'],
  ['Initialisation code', 'action.init'],
  ['Output', 'result.output'],
  ['Code', 'result.code'],
]

/** Raw bytes of a call, loaded when it is opened. */
const InputAndOutput = ({ id }: { id: string }) => {
  const asked = useGet<SearchHit>(documentPath(useContext(NetworkContext), 'trace', id))
  return (
    <Await asked={asked} busy="Reading the call">
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
