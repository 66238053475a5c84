export const minute = 60_000;
export const hour: number = 60 * minute;
export const day: number = 24 * hour;
