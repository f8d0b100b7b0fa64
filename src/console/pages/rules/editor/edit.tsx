import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../api/json.ts'
import { useAsk } from '../../../api/use-ask.ts'
import { confirm } from '../../../parts/dialog.tsx'
import { Fault } from '../../../parts/fault.tsx'
import { Busy } from '../../../parts/progress.tsx'
import { Text } from '../../../parts/text.tsx'
import { announce } from '../../../parts/toast.tsx'
import { Link, navigate } from '../../../shell/router.tsx'
import { getRule, isConflict, replaceRule, type Tagged } from '../api.ts'
import { ownOf } from '../model.ts'
import { Test } from '../test.tsx'
import { Conflict } from './conflict.tsx'
import { baseOf, forgetDraft, useDraft } from './drafts.ts'
import { RuleEditor } from './editor.tsx'

/** Changes a stored rule. */
export const Edit = ({ id }: { id: string }) => {
  // Read once: what somebody else changes meanwhile shows when this is saved.
  const [first, setFirst] = useState<Tagged>()
  const asked = useAsk(first ? undefined : `edit ${id}`, async signal => {
    const read = await getRule(id, signal)
    setFirst(read)
    return read
  })
  if (first) return <Form first={first} />
  if (asked.error !== undefined)
    return (
      <>
        <h1>Edit a rule</h1>
        <Fault title="The rule cannot be read" error={asked.error} again={asked.again} />
      </>
    )
  return <Busy label="Reading the rule" />
}

const Form = ({ first }: { first: Tagged }) => {
  const { rule } = first
  const name = `rule ${rule.id}`
  // What was written before belongs to the revision that it was made from.
  const [base, setBase] = useState<Tagged>(() => baseOf(name) ?? first)
  const draft = useDraft(name, ownOf(rule), base)
  const [theirs, setTheirs] = useState<Tagged>()
  const away = `/rules/${rule.id}`

  const store = async (body: JsonObject, { etag, rule: before }: Tagged) => {
    if (before.enabled && body.enabled === false) {
      const text =
        'This also pauses the rule, and cancels the deliveries that wait. Cancelled deliveries are not sent later.'
      if (!(await confirm({ title: 'Pause the rule?', text, action: 'Save and pause' }))) return
    }
    try {
      const { rule: after } = await replaceRule(rule.id, body, etag)
      forgetDraft(name)
      const { cancelledDeliveries: count } = after
      announce(count === undefined ? 'Saved the rule.' : `Saved and paused the rule. Cancelled deliveries: ${count}.`)
      navigate(away, { replace: true })
    } catch (error) {
      if (!isConflict(error)) throw error
      setTheirs(await getRule(String(rule.id)))
    }
  }
  return (
    <>
      <p class="way">
        <Link to={away}>Back to the rule</Link>
      </p>
      <h1>
        Edit <Text value={rule.name} most={80} brief />
      </h1>
      {theirs && (
        <Conflict
          base={ownOf(base.rule)}
          mine={draft.rule}
          theirs={ownOf(theirs.rule)}
          onClose={() => setTheirs(undefined)}
          onMerged={merged => {
            draft.setRule(merged)
            setBase(theirs)
            setTheirs(undefined)
          }}
        />
      )}
      <RuleEditor
        draft={draft}
        action="Save the rule"
        save={body => store(body, base)}
        onCancel={() => navigate(away)}
        test={<Test rule={rule} />}
      />
    </>
  )
}
