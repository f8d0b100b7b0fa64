import { bash } from './bash.ts'
import { fish } from './fish.ts'
import type { Completed } from './table.ts'
import { zsh } from './zsh.ts'

export const SHELLS: ReadonlyMap<string, (all: readonly Completed[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])
