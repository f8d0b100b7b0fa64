import { useEffect, useState } from 'preact/hooks'
import { isObject, type JsonObject, parseJson, toJson } from '../../../api/json.ts'
import type { Tagged } from '../api.ts'

/** What was written and not saved yet; it lives until the tab is loaded anew. */
const drafts = new Map<string, { text: string; base: Tagged | undefined }>()

export const forgetDraft = (key: string) => void drafts.delete(key)

/** The revision that a kept draft was made from. */
export const baseOf = (key: string): Tagged | undefined => drafts.get(key)?.base

export interface Draft {
  /** Of the newest text that is an object. */
  rule: JsonObject
  text: string
  /** Why the text is not a rule. */
  fault: string | undefined
  isChanged: boolean
  /** It was kept from before. */
  isBack: boolean
  setRule(rule: JsonObject): void
  setText(text: string): void
  /** Begins anew with what was given first. */
  discard(): void
}

/** A rule as form and as text, which are two views of one value. */
export const useDraft = (key: string, given: JsonObject, base: Tagged | undefined): Draft => {
  const first = toJson(given, 2)
  const kept = drafts.get(key)
  const [text, setText] = useState(kept?.text ?? first)
  const [isBack] = useState(kept !== undefined)
  const [rule, setRule] = useState(() => read(kept?.text ?? first).rule ?? given)
  const isChanged = text !== first
  const { fault } = read(text)

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
    ...{ rule, text, fault, isChanged },
    isBack: isBack && isChanged,
    setRule: value => change(toJson(value, 2), value),
    setText: next => change(next, read(next).rule),
    discard: () => change(first, given),
  }
}

const read = (text: string): { rule?: JsonObject; fault?: string } => {
  try {
    const value = parseJson(text)
    return isObject(value) ? { rule: value } : { fault: 'A rule is a JSON object.' }
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}.` }
  }
}
