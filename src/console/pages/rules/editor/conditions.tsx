import type { Json, JsonObject } from '../../../api/json.ts'
import { toJson } from '../../../api/json.ts'
import { useAsk } from '../../../api/use-ask.ts'
import { getArguments, getAttributes } from '../attributes.ts'
import { useSettled } from '../hooks.ts'
import { EMPTY_ARGUMENT, EMPTY_CONDITION, hasArguments, kindOf, listAt, putConfig, targetOf } from '../model.ts'
import { networkOf } from '../wire.ts'
import { ConditionForm, type Known } from './condition.tsx'
import type { FaultAt } from './places.ts'

interface Props {
  draft: JsonObject
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** All conditions of a rule, with the names that they may have. */
export const Conditions = ({ draft, faultAt, onChange }: Props) => {
  const targetType = targetOf(draft)
  const kind = kindOf(targetType) ?? 'tx'
  const network = networkOf(draft)
  const conditions = listAt(draft, 'config.targetMap')
  const attributes = useAsk(`attributes ${network} ${kind}`, signal => getAttributes(network, kind, signal))
  const plain = useSettled(toJson(conditions.filter(it => listAt(it, 'operatorParameters').length === 0)), 400)
  const argumentsKey = hasArguments(targetType) ? `arguments ${network} ${kind} ${plain}` : undefined
  const known: Known = {
    ...{ network, kind, targetType },
    attributes: attributes.data ?? [],
    arguments: useAsk(argumentsKey, signal => getArguments(network, kind, conditions, signal)).data ?? [],
  }
  const set = (next: Json[]) => onChange(putConfig(draft, 'targetMap', next))
  const fault = faultAt('config.targetMap')
  return (
    <section aria-label="Conditions">
      <h2>Conditions</h2>
      <p class="dim">All of them must hold.</p>
      {fault !== undefined && <p class="fault">{fault}</p>}
      {conditions.map((condition, i) => (
        <ConditionForm
          key={i}
          label={`Condition ${i + 1}`}
          value={condition}
          path={`config.targetMap[${i}]`}
          level={1}
          inside={[]}
          known={known}
          faultAt={faultAt}
          onChange={next => set(conditions.with(i, next))}
          onRemove={() => set(conditions.toSpliced(i, 1))}
        />
      ))}
      <p class="line">
        <button type="button" onClick={() => set([...conditions, EMPTY_CONDITION])}>
          Add a condition
        </button>
        {hasArguments(targetType) && (
          <button type="button" onClick={() => set([...conditions, EMPTY_ARGUMENT])}>
            Add a condition on arguments
          </button>
        )}
      </p>
    </section>
  )
}
