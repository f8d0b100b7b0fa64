import { useEffect, useState } from 'preact/hooks'
import { useAsk, useGet } from '../../api/ask.ts'
import { messageOf } from '../../api/client.ts'
import { isJsonObject, type Json, type JsonObject, parseJson, stringifyJson } from '../../api/json.ts'
import type { Status } from '../../api/wire.ts'
import { Link, navigate, useQueryState } from '../../browser/router.tsx'
import { announce } from '../../parts/announce.ts'
import { Await, Busy, Fault } from '../../parts/answer.tsx'
import { Button, confirm, Dialog, Form, SelectField } from '../../parts/controls.tsx'
import { Editor } from '../../parts/editor.tsx'
import { visibleText } from '../../parts/format.ts'
import { Tabs } from '../../parts/menu.tsx'
import { Facts, PageHead, say, Text } from '../../parts/text.tsx'
import { createRule, faultsOf, getRule, isConflict, replaceRule, type Tagged } from './api.ts'
import { RuleForm } from './form.tsx'
import { faultAt, mergedOf, OFFERS, ownOf, type RuleFault, ruleDifferences, targetOf } from './model.ts'
import { FaultList, Preview, TestPreview, usePreview } from './preview.tsx'
import { ruleFrom } from './rule-from-search.ts'
import { RuleSentence } from './sentence.tsx'

const Back = ({ to, children }: { to: string; children: string }) => (
  <p class="way">
    <Link to={to}>{children}</Link>
  </p>
)

/** A new rule: empty, an example, or from a search (`from`, `network`, `kinds`). */
export const New = () => {
  const status = useGet<Status>('status')
  const [from] = useQueryState('from')
  const [kinds] = useQueryState('kinds')
  const [asked] = useQueryState('network')
  const [offer] = useQueryState('offer')
  const network = asked || (status.data && (status.data.networks[0]?.network ?? 'ethereum/ethereum/mainnet'))
  const name = `new ${network} ${offer} ${kinds} ${from}`
  const offered = OFFERS.find(it => it.name === offer)?.rule
  const begun = useAsk(network && name, async signal => {
    const found = offered ? { rule: offered, left: [] } : await ruleFrom(network!, kinds.split(','), from, signal)
    return { name, ...found }
  })
  return (
    <>
      <Await asked={status} failed="The networks cannot be read" quiet />
      <Await asked={begun} failed="The search cannot be read" busy="Preparing the rule" quiet>
        {it => it.name === name && <NewForm key={name} {...it} />}
      </Await>
    </>
  )
}

interface NewProps {
  name: string
  rule: JsonObject
  left: readonly string[]
}

const NewForm = ({ name, rule, left }: NewProps) => {
  const draft = useRuleDraft(name, rule, undefined)
  const save = async (body: JsonObject) => {
    const { rule } = await createRule(body)
    drafts.delete(name)
    announce('Created the rule.')
    navigate(`/rules/${rule.id}`, { replace: true })
  }
  return (
    <>
      <Back to="/rules">All rules</Back>
      <PageHead title="New rule" />
      {left.length > 0 && (
        <div class="notice" role="status">
          <p>The search is not taken over as a whole:</p>
          <ul>
            {left.map(it => (
              <li key={it}>{visibleText(it).slice(0, 500)}</li>
            ))}
          </ul>
        </div>
      )}
      <RuleEditor draft={draft} action="Create the rule" save={save} onCancel={() => navigate('/rules')} />
    </>
  )
}

export const Edit = ({ id }: { id: string }) => {
  // Read once; conflicts are found when saving.
  const [first, setFirst] = useState<Tagged>()
  const asked = useAsk(first ? undefined : `edit ${id}`, async signal => setFirst(await getRule(id, signal)))
  if (first) return <EditForm first={first} />
  if (asked.error === undefined) return <Busy label="Reading the rule" />
  return (
    <>
      <PageHead title="Edit a rule" />
      <Fault title="The rule cannot be read" error={asked.error} again={asked.again} />
    </>
  )
}

const EditForm = ({ first }: { first: Tagged }) => {
  const { rule } = first
  const name = `rule ${rule.id}`
  // An earlier draft belongs to the revision that it began with.
  const [base, setBase] = useState<Tagged>(() => drafts.get(name)?.base ?? first)
  const draft = useRuleDraft(name, ownOf(rule), base)
  const [theirs, setTheirs] = useState<Tagged>()
  const away = `/rules/${rule.id}`

  const save = async (body: JsonObject) => {
    if (base.rule.enabled && body.enabled === false) {
      const text =
        'This also pauses the rule, and cancels the deliveries that wait. Cancelled deliveries are not sent later.'
      if (!(await confirm({ title: 'Pause the rule?', text, action: 'Save and pause' }))) return
    }
    try {
      const { rule: after } = await replaceRule(rule.id, body, base.etag)
      drafts.delete(name)
      const { cancelledDeliveries: count } = after
      announce(count === undefined ? 'Saved the rule.' : `Saved and paused the rule. Cancelled deliveries: ${count}.`)
      navigate(away, { replace: true })
    } catch (error) {
      if (!isConflict(error)) throw error
      setTheirs(await getRule(String(rule.id)))
    }
  }
  const merge = (merged: JsonObject) => {
    draft.setRule(merged)
    setBase(theirs!)
    setTheirs(undefined)
  }
  return (
    <>
      <Back to={away}>Back to the rule</Back>
      <PageHead title={say`Edit ${<Text value={rule.name} most={80} brief />}`} />
      {theirs && (
        <Conflict
          base={ownOf(base.rule)}
          mine={draft.rule}
          theirs={ownOf(theirs.rule)}
          onClose={() => setTheirs(undefined)}
          onMerged={merge}
        />
      )}
      <RuleEditor draft={draft} action="Save the rule" save={save} onCancel={() => navigate(away)} />
    </>
  )
}

interface ConflictProps {
  base: JsonObject
  mine: JsonObject
  theirs: JsonObject
  onClose(): void
  /** The merged rule, not saved yet. */
  onMerged(rule: JsonObject): void
}

const CHOICES = [
  { value: 'mine', label: 'mine' },
  { value: 'theirs', label: 'what is stored' },
]

/** Conflict: shows the differences and lets the user choose. */
const Conflict = ({ base, mine, theirs, onClose, onMerged }: ConflictProps) => {
  const [differences, setDifferences] = useState(() => ruleDifferences(base, mine, theirs))
  const choose = (at: number, choice: 'mine' | 'theirs') =>
    setDifferences(all => all.map((it, i) => (i === at ? { ...it, choice } : it)))
  return (
    <Dialog title="Somebody else has changed this rule" onClose={onClose}>
      <p>
        Nothing is saved yet.{' '}
        {differences.length === 0
          ? 'What is stored now is the same as yours.'
          : 'Choose what to keep, look at it, and save again.'}
      </p>
      {differences.map((it, i) => (
        <fieldset key={it.path}>
          <legend>{it.path}</legend>
          {it.both && <p class="warn">Both have changed it.</p>}
          <Facts of={{ Mine: shown(it.mine), Stored: shown(it.theirs), Before: shown(it.base) }} />
          <SelectField
            label={`Keep for ${it.path}`}
            value={it.choice}
            options={CHOICES}
            onChange={value => choose(i, value === 'mine' ? 'mine' : 'theirs')}
          />
        </fieldset>
      ))}
      <p class="actions">
        <Button class="main" label="Use these" onClick={() => onMerged(mergedOf(theirs, differences))} />
      </p>
    </Dialog>
  )
}

const shown = (value: Json | undefined) =>
  value === undefined ? <span class="dim">nothing</span> : <Text value={stringifyJson(value)} most={600} />

interface EditorProps {
  draft: RuleDraft
  /** Button label such as `Create the rule`. */
  action: string
  /** Throws if the server refuses. */
  save(rule: JsonObject): Promise<void>
  onCancel(): void
}

/** The rule editor: form, JSON and preview. */
const RuleEditor = ({ draft, action, save, onCancel }: EditorProps) => {
  const [view, setView] = useState('form')
  const [refused, setRefused] = useState<{ text: string; error: unknown }>()
  const [busy, setBusy] = useState(false)
  const preview = usePreview(draft.rule)
  // Faults of an earlier text may be corrected already.
  const saving = refused?.text === draft.text ? faultsOf(refused.error) : []
  const seen = preview.isWhole && !preview.busy ? faultsOf(preview.error).filter(isOfConditions) : []
  const faults = saving.length > 0 ? saving : seen
  const isBroken = draft.fault !== undefined

  const submit = async () => {
    if (busy || isBroken) return
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
  const form = () => (
    <>
      {isBroken && <Fault title="The JSON is not a rule, and the form shows the one before" error={draft.fault} />}
      <RuleForm draft={draft.rule} example={preview.data?.hits[0]} faultAt={faultAt(faults)} onChange={draft.setRule} />
    </>
  )
  const json = () => (
    <>
      <Editor label="The rule as JSON" value={draft.text} onChange={draft.setText} onSubmit={() => void submit()} />
      {isBroken && <Fault error={draft.fault} />}
    </>
  )
  return (
    <div class="edit">
      <RuleSentence rule={draft.rule} />
      <Form onSubmit={submit}>
        {draft.isBack && (
          <p class="notice">
            What you had not saved is back. <Button label="Discard it" onClick={draft.discard} />
          </p>
        )}
        <Tabs
          label="How the rule is shown"
          tabs={[
            { name: 'form', title: 'Form', show: form },
            { name: 'json', title: 'JSON', show: json },
          ]}
          current={view}
          onChange={setView}
        />
        <RuleRefusal error={refused?.error} faults={saving} />
        <p class="actions">
          <button type="submit" class="main" disabled={busy || isBroken}>
            {busy ? 'Saving …' : action}
          </button>
          <Button label="Cancel" onClick={onCancel} />
          {draft.isChanged && (
            <span class="dim">Not saved. This tab keeps what you wrote while you look elsewhere.</span>
          )}
        </p>
      </Form>
      <aside class="preview" aria-label="Preview">
        <Preview preview={preview} draft={draft.rule} />
        {targetOf(draft.rule) !== 'State' && <TestPreview rule={draft.rule} disabled={isBroken} />}
      </aside>
    </div>
  )
}

const isOfConditions = ({ path }: RuleFault) => /^config\.(targetMap|targetType|when|notify)\b/.test(path)

const RuleRefusal = ({ error, faults }: { error: unknown; faults: readonly RuleFault[] }) => {
  if (faults.length === 0)
    return error === undefined ? null : <Fault title="The rule was not saved" error={messageOf(error)} />
  return (
    <div class="fault" role="alert">
      <strong>The rule was not saved.</strong>
      <FaultList of={faults} />
    </div>
  )
}

/** Unsaved rules with their base revision; kept until the tab reloads. */
const drafts = new Map<string, { text: string; base: Tagged | undefined }>()

interface RuleDraft {
  /** Rule of the last valid text. */
  rule: JsonObject
  text: string
  /** Why the text is invalid. */
  fault: string | undefined
  isChanged: boolean
  /** Restored from before. */
  isBack: boolean
  setRule(rule: JsonObject): void
  setText(text: string): void
  /** Resets to the initial rule. */
  discard(): void
}

/** Form and text are two views of one rule. */
const useRuleDraft = (key: string, given: JsonObject, base: Tagged | undefined): RuleDraft => {
  const first = stringifyJson(given, 2)
  const kept = drafts.get(key)
  const [text, setText] = useState(kept?.text ?? first)
  const [isBack] = useState(kept !== undefined)
  const [rule, setRule] = useState(() => parseRule(kept?.text ?? first).rule ?? given)
  const isChanged = text !== first

  useEffect(() => {
    if (isChanged) drafts.set(key, { text, base })
    else drafts.delete(key)
  }, [key, text, isChanged, base])
  useEffect(() => {
    if (!isChanged) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isChanged])

  const change = (next: string, value: JsonObject | undefined) => {
    setText(next)
    if (value) setRule(value)
  }
  return {
    ...{ rule, text, fault: parseRule(text).fault, isChanged },
    isBack: isBack && isChanged,
    setRule: value => change(stringifyJson(value, 2), value),
    setText: next => change(next, parseRule(next).rule),
    discard: () => change(first, given),
  }
}

const parseRule = (text: string): { rule?: JsonObject; fault?: string } => {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? { rule: value } : { fault: 'A rule is a JSON object.' }
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}.` }
  }
}
