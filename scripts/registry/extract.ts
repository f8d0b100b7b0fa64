import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Declaration, declarationOf } from './declaration.ts'
import { readHuman } from './human.ts'
import { readLiteral } from './literal.ts'

/** Every event, function and error that the files of an unpacked package declare, in the order of file names. */
export function* extractFolder(folder: string): Generator<Declaration> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && wanted(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    yield* file.endsWith('.json') ? extractJson(text) : extractSource(text)
  }
}

/** Type declarations and source maps repeat what the code beside them says. */
const wanted = (name: string) => /\.(json|[cm]?js|[cm]?ts|tsx|py)$/.test(name) && !/\.d\.[cm]?ts$/.test(name)

/** ABI items wherever they are in a JSON document, also in JSON kept as text (compiler metadata). */
export function* extractJson(text: string): Generator<Declaration> {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch {
    return
  }
  yield* walk(root)
}

function* walk(node: unknown): Generator<Declaration> {
  if (typeof node === 'string') {
    if (/^\s*[[{]/.test(node) && node.includes('"type"')) yield* extractJson(node)
    else if (/^\s*(event|function|error)\s/.test(node)) yield* readHuman(node, new Map())
  } else if (Array.isArray(node)) {
    for (const item of node) yield* walk(item)
  } else if (typeof node === 'object' && node !== null) {
    const found = declarationOf(node)
    if (found !== undefined) yield found
    // An AST or a build log holds no ABI below an item, so descending into an item is not needed.
    else for (const item of Object.values(node)) yield* walk(item)
  }
}

/** ABI items in JavaScript, TypeScript or Python: object literals of the right shape, and human-readable strings. */
export function* extractSource(text: string): Generator<Declaration> {
  const marker = /(\\?["']?)type\1\s*:\s*\\?["'`](?:event|function|error)\\?["'`]/g
  // Escaped quotes: a whole JSON document inside a string.
  const plain = text.includes('\\"type\\":') ? text.replaceAll('\\"', '"') : text
  for (const match of plain.matchAll(marker)) {
    const start = openingBrace(plain, match.index)
    if (start === -1) continue
    let literal: unknown
    try {
      literal = readLiteral(plain, start)
    } catch {
      continue
    }
    const found = declarationOf(literal)
    if (found !== undefined) yield found
  }

  const human = /(["'`])\s*((?:event|function|error)\s+[A-Za-z_$][\w$]*\s*\((?:(?!\1)[^\\]){0,4000}?)\1/g
  let structs: Map<string, string> | undefined
  for (const match of text.matchAll(human)) {
    structs ??= structsOf(text)
    yield* readHuman(match[2]!, structs)
  }
}

/** The brace that opens the object around `at`; ABI strings hold no braces, so counting is enough. */
function openingBrace(text: string, at: number): number {
  let depth = 0
  for (let i = at - 1; i >= 0 && at - i < 50_000; i--) {
    const char = text.charCodeAt(i)
    if (char === 0x7d) depth++
    else if (char === 0x7b && depth-- === 0) return i
  }
  return -1
}

/** Names and bodies of the structs that a file declares in human-readable form. */
function structsOf(text: string): Map<string, string> {
  const structs = new Map<string, string>()
  for (const match of text.matchAll(/["'`]\s*struct\s+([A-Za-z_$][\w$]*)\s*\{([^{}]*)\}\s*["'`]/g)) {
    structs.set(match[1]!, match[2]!.replace(/;\s*$/, '').replaceAll(';', ','))
  }
  return structs
}
