import { isJsonObject, type Json, listAt, textAt, valueAt } from '../../api/json.ts'
import { CheckField, TextField } from '../../parts/controls.tsx'
import type { ConditionsProps } from './conditions.tsx'
import { hasArguments, numberOrText, targetOf, withConfig, withMember } from './model.ts'
import { NamesField, SpanField } from './span.tsx'

/** How its messages are kept few. */
export const Notify = ({ draft, known, faultAt, onChange }: ConditionsProps) => {
  const notify = valueAt(draft, 'config.notify')
  const when = valueAt(draft, 'config.when')
  const hasWindows = when !== undefined
  const isOnce = listAt(when, 'conditions').some(it => textAt(it, 'aggregate') === 'First')
  const hasEnd = hasWindows && valueAt(when, 'steps') === undefined && !isOnce
  const { quiet, group, resolved, again } = isJsonObject(notify) ? notify : {}
  const set = (name: string, value: Json | undefined) => {
    const next = withMember(notify, name, value)
    onChange(withConfig(draft, 'notify', Object.keys(next).length === 0 ? undefined : next))
  }
  const names = hasArguments(targetOf(draft)) ? known : { ...known, arguments: [] }
  return (
    <>
      {(hasEnd || resolved !== undefined) && (
        <CheckField
          label="Also notify when it is over"
          checked={resolved === true}
          onChange={checked => set('resolved', checked || undefined)}
        />
      )}
      {faultAt('config.notify.resolved') !== undefined && <p class="fault">{faultAt('config.notify.resolved')}</p>}
      {(hasEnd || again !== undefined) && (
        <CheckField
          label="Remind while it lasts"
          checked={again !== undefined}
          onChange={checked => set('again', checked ? { after: { seconds: 86_400 } } : undefined)}
        />
      )}
      {isJsonObject(again) && (
        <fieldset class="receiver" aria-label="Reminders">
          <SpanField
            label="After"
            value={again.after}
            error={faultAt('config.notify.again') ?? faultAt('config.notify.again.after', { inside: true })}
            onChange={after => set('again', { ...again, after })}
          />
          <CheckField
            label="Only if it is worse than it was told"
            checked={again.if !== undefined}
            onChange={checked => set('again', withMember(again, 'if', checked ? 'Worse' : undefined))}
          />
          {faultAt('config.notify.again.if') !== undefined && <p class="fault">{faultAt('config.notify.again.if')}</p>}
        </fieldset>
      )}
      {(!hasWindows || quiet !== undefined) && (
        <CheckField
          label="After an alert, stay quiet for a time"
          checked={quiet !== undefined}
          onChange={checked => set('quiet', checked ? { seconds: 3_600 } : undefined)}
        />
      )}
      {isJsonObject(quiet) && (
        <fieldset class="receiver" aria-label="Quiet time">
          <SpanField
            label="Quiet for"
            value={quiet}
            error={
              faultAt('config.notify.quiet') ??
              faultAt('config.notify.quiet.seconds') ??
              faultAt('config.notify.quiet.blocks')
            }
            onChange={next => set('quiet', next)}
          />
          <NamesField
            label="For each"
            names={listAt(quiet, 'by')}
            path="config.notify.quiet.by"
            known={names}
            faultAt={faultAt}
            onChange={by => set('quiet', withMember(quiet, 'by', by))}
          />
        </fieldset>
      )}
      <CheckField
        label="Send alerts that come together as one message"
        checked={group !== undefined}
        onChange={checked => set('group', checked ? { wait: { seconds: 30 } } : undefined)}
      />
      {isJsonObject(group) && (
        <fieldset class="receiver" aria-label="Groups">
          <div class="pair">
            <SpanField
              label="Wait"
              value={group.wait}
              error={faultAt('config.notify.group.wait', { inside: true }) ?? faultAt('config.notify.group')}
              inTime
              onChange={wait => set('group', { ...group, wait })}
            />
            <TextField
              label="At most (optional)"
              value={String(group.size ?? '')}
              error={faultAt('config.notify.group.size')}
              onInput={text => set('group', withMember(group, 'size', text === '' ? undefined : numberOrText(text)))}
            />
          </div>
          <NamesField
            label="With the same"
            names={listAt(group, 'by')}
            path="config.notify.group.by"
            known={names}
            others={['network']}
            faultAt={faultAt}
            onChange={by => set('group', withMember(group, 'by', by))}
          />
        </fieldset>
      )}
    </>
  )
}
