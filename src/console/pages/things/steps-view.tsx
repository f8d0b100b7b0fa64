import { useState } from 'preact/hooks'
import { getDocument } from '../../api/index.ts'
import { textAt } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import { Fault } from '../../parts/fault.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Text } from '../../parts/text.tsx'
import { AddressLink } from './address-link.tsx'
import { Args, Raw } from './args.tsx'
import { Coins } from './facts.tsx'
import type { Step } from './steps.ts'

interface Props {
  network: string
  steps: readonly Step[]
  /** Where the failure of the transaction began. */
  began: readonly number[] | undefined
}

const DEEPEST = 16

/** What the transaction called, step by step. */
export const StepsView = ({ network, steps, began }: Props) => (
  <ol class="steps" aria-label="Steps">
    {steps.map(step => (
      <StepView
        key={step.path.join()}
        network={network}
        step={step}
        isBeginning={step.error !== undefined && began !== undefined && began.join() === step.path.join()}
      />
    ))}
  </ol>
)

const StepView = ({ network, step, isBeginning }: { network: string; step: Step; isBeginning: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  const { path, type, from, to, value, method, selector, args, gasUsed, error, isUndone } = step
  const depth = Math.min(path.length, DEEPEST)
  return (
    <li class={error !== undefined ? 'failed' : isUndone ? 'undone' : undefined} style={{ '--depth': depth }}>
      <div class="step">
        <code class="dim">{path.length === 0 ? '·' : path.join('.')}</code>{' '}
        <span class="kind">{NAMES[type] ?? type}</span>{' '}
        <span class="way">
          <AddressLink network={network} value={from} brief /> → <AddressLink network={network} value={to} />
        </span>{' '}
        {type !== 'create' && type !== 'suicide' && <Called method={method} selector={selector} />}
        {value !== undefined && value > 0n && <Coins network={network} value={value} />}
        {gasUsed !== undefined && <span class="dim"> {gasUsed.toLocaleString()} gas</span>}
      </div>
      {error !== undefined && (
        <p class="bad">
          <strong>{isBeginning ? 'Failed, and the failure began here' : 'Failed'}</strong> · <Text value={error} />
        </p>
      )}
      {error === undefined && isUndone && <p class="dim">Undone: a step above it failed.</p>}
      <Args network={network} args={args} />
      {step.traceId !== undefined && (
        <details onToggle={event => setOpen(event.currentTarget.open)}>
          <summary>Input and output</summary>
          {isOpen && <InAndOut network={network} id={step.traceId} />}
        </details>
      )}
    </li>
  )
}

const NAMES: Record<string, string> = { suicide: 'self-destruction', create: 'creation' }

const Called = ({ method, selector }: { method: string | undefined; selector: string | undefined }) => {
  if (method === undefined && selector === undefined) return <span class="dim">without a function </span>
  return (
    <strong>
      <Text value={method ?? selector!} most={80} brief />{' '}
    </strong>
  )
}

/** Raw bytes of a step, which are asked for once they are wanted. */
const InAndOut = ({ network, id }: { network: string; id: string }) => {
  const { data, error, again } = useAsk(`${network} trace ${id}`, signal => getDocument(network, 'trace', id, signal))
  if (error !== undefined) return <Fault error={error} again={again} />
  if (!data) return <Busy label="Reading the step" />
  const part = (name: string, path: string) => {
    const hex = textAt(data._source, path)
    return hex === undefined ? null : (
      <div>
        <dt>{name}</dt>
        <dd>
          <Raw hex={hex} most={512} />
        </dd>
      </div>
    )
  }
  return (
    <dl class="args">
      {part('Input', 'action.input')}
      {part('Initialisation code', 'action.init')}
      {part('Output', 'result.output')}
      {part('Code', 'result.code')}
    </dl>
  )
}
