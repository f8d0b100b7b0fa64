import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../../../api/client.ts'
import type { JsonObject } from '../../../api/json.ts'
import { Editor } from '../../../parts/editor.tsx'
import { Fault } from '../../../parts/fault.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { plain } from '../../../parts/visible.ts'
import { faultsOf } from '../api.ts'
import type { RuleFault } from '../wire.ts'
import type { Draft } from './drafts.ts'
import { RuleForm } from './form.tsx'
import { faultAt } from './places.ts'
import { Preview, usePreview } from './preview.tsx'
import { TestPreview } from './test-preview.tsx'

interface Props {
  draft: Draft
  /** On the button, such as `Create the rule`. */
  action: string
  /** Throws what the server refused. */
  save(rule: JsonObject): Promise<void>
  onCancel(): void
  /** Tests the receivers as they are stored. */
  test?: ComponentChildren
}

const VIEWS = [
  { name: 'form', title: 'Form' },
  { name: 'json', title: 'JSON' },
] as const

/** A rule while it is written: as a form, as JSON, and what it would have found. */
export const RuleEditor = ({ draft, action, save, onCancel, test }: Props) => {
  const [view, setView] = useState<'form' | 'json'>('form')
  const [refused, setRefused] = useState<{ text: string; error: unknown }>()
  const [busy, setBusy] = useState(false)
  const preview = usePreview(draft.rule)
  // What the server said of an earlier text may be corrected already.
  const saving = refused?.text === draft.text ? faultsOf(refused.error) : []
  const seen = preview.isWhole && !preview.busy ? faultsOf(preview.error).filter(isOfConditions) : []
  const faults = saving.length > 0 ? saving : seen

  const submit = async () => {
    if (busy || draft.fault !== undefined) return
    setBusy(true)
    setRefused(undefined)
    try {
      await save(draft.rule)
    } catch (error) {
      setRefused({ text: draft.text, error })
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="edit">
      <form
        noValidate
        onSubmit={event => {
          event.preventDefault()
          void submit()
        }}
      >
        {draft.isBack && (
          <p class="note">
            What you had not saved is back.{' '}
            <button type="button" onClick={draft.discard}>
              Discard it
            </button>
          </p>
        )}
        <Tabs label="How the rule is shown" tabs={VIEWS} current={view} onChange={setView}>
          {view === 'form' ? (
            <>
              {draft.fault !== undefined && (
                <Fault title="The JSON is not a rule, and the form shows the one before" error={draft.fault} />
              )}
              <RuleForm
                draft={draft.rule}
                example={preview.data?.hits[0]}
                faultAt={faultAt(faults)}
                onChange={draft.setRule}
              />
            </>
          ) : (
            <>
              <Editor
                label="The rule as JSON"
                value={draft.text}
                onChange={draft.setText}
                onSubmit={() => void submit()}
              />
              {draft.fault !== undefined && <Fault error={draft.fault} />}
            </>
          )}
        </Tabs>
        {draft.isChanged || test === undefined ? (
          <p class="dim">Save the rule to send a test alert to its receivers.</p>
        ) : (
          test
        )}
        <TestPreview rule={draft.rule} disabled={draft.fault !== undefined} />
        <Refusal error={refused?.error} faults={saving} />
        <p class="actions">
          <button type="submit" class="main" disabled={busy || draft.fault !== undefined}>
            {busy ? 'Saving …' : action}
          </button>
          <button type="button" onClick={onCancel}>
            Leave
          </button>
          {draft.isChanged && (
            <span class="dim">Not saved. This tab keeps what you wrote while you look elsewhere.</span>
          )}
        </p>
      </form>
      <Preview preview={preview} draft={draft.rule} />
    </div>
  )
}

const isOfConditions = ({ path }: RuleFault) => path.startsWith('config.targetMap') || path === 'config.targetType'

const Refusal = ({ error, faults }: { error: unknown; faults: readonly RuleFault[] }) => {
  if (faults.length === 0)
    return error === undefined ? null : <Fault title="The rule was not saved" error={messageOf(error)} />
  return (
    <div class="fault" role="alert">
      <strong>The rule was not saved.</strong>
      <ul>
        {faults.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{plain(path)}</code>: {plain(message)}
          </li>
        ))}
      </ul>
    </div>
  )
}
