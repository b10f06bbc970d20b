"""First names by the gender that English readers take them for; a list of our own.

Left out are names of both genders (Taylor), names that are words as well (Mark, Rose) and names that begin
one another (Ann, Anna), so that a name is easily told from the rest of a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .words import Gender

_FEMALE = """
Abigail Adriana Agnes Alice Amanda Amelia Anita Annabel Audrey Beatrice Bertha Bianca Brenda Bridget Camille
Carla Caroline Catherine Cecilia Charlotte Chloe Clara Claudia Colleen Constance Cynthia Deborah Denise Diana
Donna Doris Dorothy Edith Eileen Elaine Eleanor Elizabeth Ellen Emily Erica Esther Eunice Fiona Florence
Frances Gabriela Georgia Geraldine Gertrude Gloria Greta Gwendolyn Hannah Harriet Heather Helen Henrietta
Hilda Ingrid Irene Isabel Jacqueline Janet Jennifer Jessica Joanna Josephine Judith Julia Karen Katrina Laura
Leah Lillian Linda Louise Lucinda Lydia Mabel Margaret Marianne Marjorie Martha Matilda Melissa Meredith
Michelle Mildred Miranda Miriam Monica Muriel Naomi Natalie Nicole Nora Olivia Patricia Paula Phyllis
Priscilla Rachel Rebecca Renee Rosalind Roxanne Ruth Sabrina Samantha Sandra Sarah Sheila Shirley Silvia Sonia
Stephanie Susan Tamara Tanya Teresa Ursula Valerie Vanessa Vera Veronica Victoria Virginia Vivian Wanda Wendy
Yolanda Yvonne Zoe
"""
_MALE = """
Aaron Abraham Adam Adrian Alan Albert Alfred Andrew Anthony Antonio Arnold Arthur Barry Benjamin Bernard Boris
Bradley Brandon Brian Bruce Bryce Calvin Carlos Cedric Charles Christopher Clarence Clifford Clyde Colin Craig
Curtis Cyril Damian Daniel David Dennis Derek Dominic Donald Douglas Duncan Dustin Edgar Edmund Edward Edwin
Elliot Emanuel Eric Ernest Eugene Felix Ferdinand Francisco Franklin Frederick Gabriel Gareth Geoffrey George
Gerald Gilbert Gordon Graham Gregory Harold Hector Henry Herbert Herman Horace Howard Hugh Humphrey Ian
Ibrahim Isaac Ivan Jacob James Jason Jeffrey Jeremy Jerome Joel Jonathan Joseph Joshua Julian Justin Keith
Kenneth Kevin Lawrence Leonard Leroy Lionel Louis Lucas Malcolm Marcus Martin Matthew Maurice Melvin Michael
Milton Mohammed Nathan Neil Nicholas Norman Oliver Oscar Owen Patrick Pedro Peter Philip Quentin Ralph Ramon
Raymond Reginald Richard Robert Rodney Roger Roland Rudolf Rupert Samuel Sebastian Simon Spencer Stanley
Stephen Stewart Terence Theodore Thomas Timothy Vernon Victor Vincent Walter Wesley William Zachary
"""

NAMES: Mapping[Gender, tuple[str, ...]] = MappingProxyType(
    {"female": tuple(_FEMALE.split()), "male": tuple(_MALE.split())}
)
