import { copyFileSync, existsSync, linkSync } from 'node:fs'
import type { Run, Salvaged } from '../cli/index.ts'
import type { Config } from '../config/index.ts'
import { removeStore, salvageStore } from '../engine/salvage.ts'
import { refuse } from '../lib/errors.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { replaceStore } from '../sqlite/compact.ts'
import { lockDataFolder } from '../sqlite/lock.ts'
import { findDamaged } from '../sqlite/pages.ts'
import { rangesOf, storeOf } from './stores.ts'

export const salvage = async ({ data }: Config, network: string, { shutdown }: Run): Promise<Salvaged> => {
  const native = nativeBinding(data)
  const store = storeOf(data, network)
  const lock = lockDataFolder(data, 'salvage', native)
  shutdown.add('lock', lock.release)
  const pages = damagedPages(store)
  if (pages.length === 0) throw refuse('store_whole', `${store} is not damaged: there is nothing to salvage.`)
  const made = `${store}-salvage`
  try {
    const { lost, lostAlerts } = salvageStore(store, made, pages, native)
    const aside = keepAside(store)
    replaceStore(store, made)
    return { network, held: rangesOf(store), lost, lostAlerts, aside }
  } finally {
    removeStore(made)
  }
}

const damagedPages = (store: string): readonly number[] => {
  const pages = findDamaged(store)
  if (!pages) throw refuse('store_unchecked', `${store} has no checksums, so its damaged pages are unknown.`)
  return pages
}

/** Keeps the damaged store under another name; the new one takes its place in one step. */
const keepAside = (store: string): string => {
  const aside = `${store}-damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  for (const suffix of ['-wal', '-sums']) if (existsSync(store + suffix)) copyFileSync(store + suffix, aside + suffix)
  try {
    linkSync(store, aside)
  } catch {
    // Not every file system has a second name for a file.
    copyFileSync(store, aside)
  }
  return aside
}
