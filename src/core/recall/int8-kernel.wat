;; Products of int8 rows with int8 queries; every sum is exact: 127 * 127 * 65 536 dimensions would still fit an i32.
;; Compiled form: the constant in int8-kernel.ts (test/core/recall/int8-kernel.test.ts compiles this file and compares).
(module
  (memory (import "env" "memory") 1)
  ;; The dot products of one query, widened to i16, with each of the rows, 32 lanes at a time and then the 16 that may be left.
  (func (export "dot") (param $query i32) (param $rows i32) (param $count i32) (param $dimensions i32) (param $out i32)
    (local $q i32) (local $end i32) (local $last i32) (local $pairs i32)
    (local $a v128) (local $b v128)
    (local.set $last (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $pairs (i32.and (local.get $dimensions) (i32.const -32)))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $out) (local.get $last)))
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (local.set $q (local.get $query))
        (local.set $end (i32.add (local.get $rows) (local.get $pairs)))
        (block $paired
          (loop $lanes
            (br_if $paired (i32.ge_u (local.get $rows) (local.get $end)))
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $rows)) (v128.load (local.get $q)))))
            (local.set $b (i32x4.add (local.get $b)
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $rows)) (v128.load offset=16 (local.get $q)))))
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=16 (local.get $rows)) (v128.load offset=32 (local.get $q)))))
            (local.set $b (i32x4.add (local.get $b)
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=24 (local.get $rows)) (v128.load offset=48 (local.get $q)))))
            (local.set $rows (i32.add (local.get $rows) (i32.const 32)))
            (local.set $q (i32.add (local.get $q) (i32.const 64)))
            (br $lanes)))
        (if (i32.and (local.get $dimensions) (i32.const 16))
          (then
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $rows)) (v128.load (local.get $q)))))
            (local.set $b (i32x4.add (local.get $b)
              (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $rows)) (v128.load offset=16 (local.get $q)))))
            (local.set $rows (i32.add (local.get $rows) (i32.const 16)))))
        (local.set $a (i32x4.add (local.get $a) (local.get $b)))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
            (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $row))))
  ;; The largest dot products of four queries with the rows, or what stands at $out where that is more. The queries are widened to
  ;; i16 and laid out in turn, 16 lanes of each: a row is read and widened once for all four.
  (func (export "max4") (param $queries i32) (param $rows i32) (param $count i32) (param $dimensions i32) (param $out i32)
    (local $q i32) (local $end i32) (local $last i32)
    (local $low v128) (local $high v128) (local $best v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $best (v128.load (local.get $out)))
    (local.set $last (i32.add (local.get $rows) (i32.mul (local.get $count) (local.get $dimensions))))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $rows) (local.get $last)))
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (local.set $c (v128.const i32x4 0 0 0 0))
        (local.set $d (v128.const i32x4 0 0 0 0))
        (local.set $q (local.get $queries))
        (local.set $end (i32.add (local.get $rows) (local.get $dimensions)))
        (loop $lanes
          (local.set $low (v128.load8x8_s (local.get $rows)))
          (local.set $high (v128.load8x8_s offset=8 (local.get $rows)))
          (local.set $a (i32x4.add (local.get $a) (i32x4.add
            (i32x4.dot_i16x8_s (local.get $low) (v128.load (local.get $q)))
            (i32x4.dot_i16x8_s (local.get $high) (v128.load offset=16 (local.get $q))))))
          (local.set $b (i32x4.add (local.get $b) (i32x4.add
            (i32x4.dot_i16x8_s (local.get $low) (v128.load offset=32 (local.get $q)))
            (i32x4.dot_i16x8_s (local.get $high) (v128.load offset=48 (local.get $q))))))
          (local.set $c (i32x4.add (local.get $c) (i32x4.add
            (i32x4.dot_i16x8_s (local.get $low) (v128.load offset=64 (local.get $q)))
            (i32x4.dot_i16x8_s (local.get $high) (v128.load offset=80 (local.get $q))))))
          (local.set $d (i32x4.add (local.get $d) (i32x4.add
            (i32x4.dot_i16x8_s (local.get $low) (v128.load offset=96 (local.get $q)))
            (i32x4.dot_i16x8_s (local.get $high) (v128.load offset=112 (local.get $q))))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.set $q (i32.add (local.get $q) (i32.const 128)))
          (br_if $lanes (i32.lt_u (local.get $rows) (local.get $end))))
        ;; Four sums of four lanes each, added up lane by lane of their transpose.
        (local.set $low (i32x4.add
          (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b))
          (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b))))
        (local.set $high (i32x4.add
          (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $d))
          (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $d))))
        (local.set $best (i32x4.max_s (local.get $best) (i32x4.add
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $low) (local.get $high))
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $low) (local.get $high)))))
        (br $row)))
    (v128.store (local.get $out) (local.get $best)))
  ;; One bit a dimension: whether the row's number is more than the centre's. 16 lanes at a time, two bytes of bits each.
  (func (export "signs") (param $centre i32) (param $rows i32) (param $count i32) (param $dimensions i32) (param $out i32)
    (local $c i32) (local $end i32) (local $last i32)
    (local.set $last (i32.add (local.get $rows) (i32.mul (local.get $count) (local.get $dimensions))))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $rows) (local.get $last)))
        (local.set $c (local.get $centre))
        (local.set $end (i32.add (local.get $rows) (local.get $dimensions)))
        (loop $lanes
          (i32.store16 (local.get $out)
            (i8x16.bitmask (i8x16.gt_s (v128.load (local.get $rows)) (v128.load (local.get $c)))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.set $c (i32.add (local.get $c) (i32.const 16)))
          (local.set $out (i32.add (local.get $out) (i32.const 2)))
          (br_if $lanes (i32.lt_u (local.get $rows) (local.get $end))))
        (br $row))))
  ;; How many bits of each row differ from the query's, as u16; 128 bits at a time, 31 times at most.
  (func (export "differ") (param $query i32) (param $rows i32) (param $count i32) (param $bytes i32) (param $out i32)
    (local $q i32) (local $end i32) (local $last i32) (local $sum v128)
    (local.set $last (i32.add (local.get $rows) (i32.mul (local.get $count) (local.get $bytes))))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $rows) (local.get $last)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $q (local.get $query))
        (local.set $end (i32.add (local.get $rows) (local.get $bytes)))
        (loop $lanes
          (local.set $sum (i8x16.add (local.get $sum)
            (i8x16.popcnt (v128.xor (v128.load (local.get $rows)) (v128.load (local.get $q))))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (br_if $lanes (i32.lt_u (local.get $rows) (local.get $end))))
        (local.set $sum (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $sum))))
        (i32.store16 (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $out (i32.add (local.get $out) (i32.const 2)))
        (br $row)))))
