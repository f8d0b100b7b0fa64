import type { WindowTables } from './window-tables.ts'

/** What a store of windows or of sequences has in memory of its rules. The tables are the truth. */
export const createRuleMemory = <Rule extends { rule: number; revision: number }, Running>(tables: WindowTables) => {
  const rules = new Map<number, Rule>()
  const running = new Map<number, Running>()
  const notes = new Map<number, string>()
  let written = -1

  const forget = (rule: number) => {
    running.delete(rule)
    notes.delete(rule)
  }
  const clearOther = ({ rule, revision }: Rule) => {
    if (tables.clearOther(rule, revision)) forget(rule)
  }
  /** What a failed transaction had changed in memory goes. */
  const enter = () => {
    const stored = tables.writes()
    if (stored !== written) running.clear()
    written = stored + 1
    tables.noteWrite(written)
  }

  return {
    rules: rules as ReadonlyMap<number, Rule>,
    running,
    notes: notes as ReadonlyMap<number, string>,
    enter,
    clearOther,
    /** All rules that are matched from now on. */
    set(all: readonly Rule[]) {
      enter()
      rules.clear()
      for (const one of all) rules.set(one.rule, one)
      all.forEach(clearOther)
      for (const known of [running, notes]) for (const rule of known.keys()) if (!rules.has(rule)) known.delete(rule)
    },
    gone(rule: number) {
      rules.delete(rule)
      forget(rule)
    },
    /** What the owner of a rule should know; undefined: nothing. */
    note(rule: number, text: string | undefined) {
      if (text === undefined) notes.delete(rule)
      else notes.set(rule, text)
    },
  }
}
