/** What the pages of the board and the reports need beside their markup. */
export {};
